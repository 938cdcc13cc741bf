// The card on screen: a new one begins at its top, with the focus on its heading.

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "main" || isPoll(event)) return;
  document.querySelector("#main [data-focus]")?.focus({ preventScroll: true });
  document.querySelectorAll(".pane").forEach((pane) => { pane.scrollTop = 0; });
  window.scrollTo(0, 0);
});

function isPoll(event) {
  return event.detail.requestConfig?.path?.includes("poll=1") ?? false;
}

// The second click of a double click would land on the next card, which nobody has read yet.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest(".decide")) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);
