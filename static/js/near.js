// The next two cards are fetched ahead. By that nobody has them open, and nothing counts as seen: only a card on screen
// says so of itself. A decision shows the next card at once; until its answer is there, no key or button decides.
import { leave } from "./stale.js";

const FRESH = 60_000; // milliseconds: an older one may tell of what is over
const PAUSE = 200; // what a person does comes first
const SWAP = { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 };
const kept = new Map();
let fetching = new AbortController();
let timer = 0;
let shown = null; // the card that stands here before the answer does, and the one that was decided on

function main() {
  return document.getElementById("main");
}

function near() {
  return main()?.dataset.near?.split(" ") ?? [];
}

function isFresh(url) {
  return kept.has(url) && Date.now() - kept.get(url).at < FRESH;
}

function take(url) {
  const html = isFresh(url) ? kept.get(url).html : "";
  kept.delete(url);
  return html;
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(() => fetchAhead().catch(() => {}), PAUSE);
}

async function fetchAhead() {
  if (document.hidden || document.prerendering || navigator.connection?.saveData) return;
  fetching = new AbortController();
  const wanted = near();
  for (const url of kept.keys()) if (!wanted.includes(url)) kept.delete(url);
  for (const url of wanted.filter((each) => !isFresh(each))) {
    const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
    const answer = await fetch(url, { headers, signal: fetching.signal });
    if (answer.status !== 200 || answer.headers.get("HX-Retarget") !== "#main") return;
    kept.set(url, { html: await answer.text(), at: Date.now() });
  }
}

// Before it is counted as something that is on its way.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, requestConfig, pathInfo, target } = event.detail;
  if (elt.matches("[data-quiet]")) return;
  clearTimeout(timer);
  fetching.abort();
  if (requestConfig.verb === "post") {
    if (elt.closest(".decide")) showNext(elt);
    kept.clear(); // their numbers are those of before
  } else if (target === main() && requestConfig.verb === "get" && isFresh(pathInfo.finalRequestPath)) {
    event.preventDefault();
    leave(pathInfo.finalRequestPath);
    history.replaceState({ htmx: true }, "", location.href);
    htmx.swap(main(), take(pathInfo.finalRequestPath), SWAP, {});
    history.pushState({ htmx: true }, "", pathInfo.finalRequestPath);
    later();
  }
}, true);

function showNext(elt) {
  const [url] = near();
  const html = url && take(url);
  if (!html) return;
  const before = main();
  const place = before.cloneNode(false);
  before.hidden = true;
  before.removeAttribute("id");
  before.before(place);
  shown = { elt, url, before, title: document.title, version: versionOf(html) };
  htmx.swap(place, html, SWAP, {});
  document.getElementById("actions").inert = true;
}

// What was on screen of a card, as its form says it.
function versionOf(html) {
  return html.match(/name="version" value="\d+"><input type="hidden" name="text_hash" value="\w*"/)?.[0];
}

// Where the answer is the card that stands here already, only what has to do with the decision is new.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (!shown || requestConfig.elt !== shown.elt) return;
  const same = xhr.getResponseHeader("HX-Push-Url") === shown.url && versionOf(xhr.responseText) === shown.version;
  if (xhr.status < 300 && same) {
    event.detail.target = document.getElementById("actions");
    event.detail.selectOverride = "#actions";
    event.detail.swapOverride = "outerHTML";
  } else if (xhr.getResponseHeader("HX-Retarget") !== "#main") {
    goBack();
  }
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (shown && event.detail.elt === shown.elt) {
    if (event.detail.xhr.status === 0) goBack();
    shown?.before.remove();
    shown = null;
  }
  if (!event.detail.elt.matches("[data-quiet]")) later();
});

// Nothing was decided: the card is here again, as it was.
function goBack() {
  const { before, title } = shown;
  shown = null;
  main().remove();
  before.id = "main";
  before.hidden = false;
  document.title = title;
  before.querySelector("[data-focus]")?.focus({ preventScroll: true });
}

later();
