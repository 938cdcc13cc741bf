// The card on screen: focus goes to its heading, and the server is told that somebody has it open.

const RENEW = 120_000; // ms; the lease is longer than two of these

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "main" || isPoll(event)) return;
  document.querySelector("#main [data-focus]")?.focus({ preventScroll: true });
  document.querySelectorAll(".pane").forEach((pane) => { pane.scrollTop = 0; });
  window.scrollTo(0, 0);
});

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id === "main") tell();
});
document.addEventListener("visibilitychange", tell);
setInterval(tell, RENEW);
if (document.readyState === "complete") tell();
else addEventListener("load", tell);

function isPoll(event) {
  return event.detail.requestConfig?.path?.includes("poll=1") ?? false;
}

function tell() {
  const card = document.querySelector("#main[data-open]");
  if (!card || document.hidden || document.prerendering) return;
  const body = new URLSearchParams({ text_hash: card.dataset.hash });
  const headers = JSON.parse(document.body.getAttribute("hx-headers"));
  fetch(card.dataset.open, { method: "POST", body, headers }).catch(() => {});
}

// Answers that are nobody's card are shown above the page until a key or a click.
document.addEventListener("htmx:sendError", () => {
  say("The server of this page does not answer. Nothing was sent.");
});

function say(text) {
  const notice = document.createElement("div");
  notice.className = "notice";
  notice.dataset.tone = "danger";
  const words = document.createElement("p");
  words.textContent = text;
  notice.append(words);
  document.getElementById("alerts").replaceChildren(notice);
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.detail.elt.matches("[hx-trigger]")) document.getElementById("alerts")?.replaceChildren();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".alerts")) document.getElementById("alerts")?.replaceChildren();
});

// The second click of a double click would land on the next card, which nobody has read yet.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest(".decide")) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);
