// Several people on one queue. Lists and cards ask what has happened meanwhile (data-quiet). Nothing that comes of it
// moves what is being read, leads away from the page, or loses what was typed.
import { isBusy } from "./keys.js";
import { say } from "./say.js";

// Nobody asks behind a hidden tab, nor for a page that is only prepared.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (isQuiet(event) && (document.hidden || document.prerendering)) event.preventDefault();
});

// Rows that were dropped are not asked for.
document.addEventListener("htmx:configRequest", (event) => {
  const asked = event.detail.parameters;
  if (event.detail.elt.id !== "changes" || !asked.rows) return;
  asked.rows = asked.rows.split("_").filter((token) => document.getElementById(`row-${token.split(".")[0]}`)).join("_");
});

document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { elt, xhr } = event.detail;
  if (xhr.getResponseHeader("HX-Redirect") && (isQuiet(event) || elt.closest("[data-edit]"))) {
    event.preventDefault();
    say("You are signed out. Nothing was sent, and what is on this page is still here: copy what you typed, then sign in.");
  } else if (isQuiet(event) && (xhr.status >= 500 || isBusy())) {
    // It is asked again soon. What a person has just decided is answered to them, and not as news of it: that would
    // take the button away whose answer is on its way.
    event.preventDefault();
  }
});

// Who may not see it any more is told once. A clone is nothing that asks; before this, htmx looks from the element
// for the place of its answer.
document.addEventListener("htmx:afterRequest", (event) => {
  const { elt, xhr } = event.detail;
  const refused = xhr.status >= 400 && xhr.status < 500;
  if (isQuiet(event) && (refused || xhr.getResponseHeader("HX-Redirect"))) elt.replaceWith(elt.cloneNode(true));
});

// A row whose text arrives only now stays the row one stands on.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { fragment, target } = event.detail;
  if (target.matches(".row[aria-current]")) fragment.firstElementChild?.setAttribute("aria-current", "true");
});

// Who leaves a card without a decision says so; after a decision there is nothing to give back.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, requestConfig, pathInfo } = event.detail;
  if (target.id === "main" && requestConfig.verb === "get") leave(pathInfo.requestPath);
});
addEventListener("pagehide", () => leave(""));

export function leave(to) {
  const card = document.querySelector("#watch[data-leave]");
  if (!card || to.startsWith(card.dataset.card)) return;
  const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
  navigator.sendBeacon(card.dataset.leave, new URLSearchParams({ csrfmiddlewaretoken: token }));
}

function isQuiet(event) {
  return event.detail.elt.matches("[data-quiet]");
}
