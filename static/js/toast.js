// The undo window on screen: when the line has drained, the toast goes; what it offered is in the log or on the card.

document.addEventListener("animationend", (event) => {
  const toast = event.target.closest?.("[data-toast]");
  if (toast && event.animationName === "drain") toast.remove();
});
