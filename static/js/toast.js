// Just done, with its way back, on top of everything: when the line has drained, it takes its usual place.

document.addEventListener("animationend", (event) => {
  const toast = event.target.closest?.("[data-toast]");
  if (toast && event.animationName === "drain") toast.classList.remove("toast");
});
