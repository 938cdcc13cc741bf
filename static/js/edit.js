// Editing: what was typed is not lost by a slip. The comparison is made while typing, so its button is not needed.

let saving = false;

function field() {
  return document.querySelector("[data-edit] textarea");
}

// Comparing while typing, and asking what others do, leave nothing.
function isQuiet(event) {
  return event.detail.elt.matches("[hx-trigger]");
}

function isChanged() {
  const text = field();
  return text !== null && !saving && (text.value !== text.defaultValue || text.closest("[data-unsaved]") !== null);
}

addEventListener("beforeunload", (event) => {
  if (isChanged()) event.preventDefault();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isQuiet(event)) saving = event.detail.elt.matches("[data-edit]");
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.matches("[data-edit]")) saving = false;
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-edit]")) saving = true;
});

// Leaving the form by a link that htmx follows asks first, as leaving the page does.
document.addEventListener("htmx:confirm", (event) => {
  if (!isChanged() || isQuiet(event) || event.detail.elt.matches("[data-edit]")) return;
  event.preventDefault();
  if (confirm("Leave without saving? What you typed is lost.")) {
    saving = true;
    event.detail.issueRequest(true);
  }
});
