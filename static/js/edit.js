// Editing: what was typed is not lost by a slip. The comparison is made while typing, so its button is not needed.

let saving = false;

function field() {
  return document.querySelector("[data-edit] textarea");
}

function isChanged() {
  const text = field();
  return text !== null && !saving && text.value !== text.defaultValue;
}

addEventListener("beforeunload", (event) => {
  if (isChanged()) event.preventDefault();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  saving = event.detail.elt.matches("[data-edit]");
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.matches("[data-edit]")) saving = false;
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-edit]")) saving = true;
});

// Leaving the form by a link that htmx follows asks first, as leaving the page does.
document.addEventListener("htmx:confirm", (event) => {
  if (!isChanged() || event.detail.elt.matches("[data-edit], textarea")) return;
  event.preventDefault();
  if (confirm("Leave without saving? What you typed is lost.")) {
    saving = true;
    event.detail.issueRequest(true);
  }
});
