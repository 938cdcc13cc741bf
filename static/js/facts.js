// Facts of a card: the reason has the focus as soon as it is asked for, and is not swapped away while it is typed.
import { isBusy, isKey, isOff } from "./keys.js";
import { say } from "./say.js";

document.addEventListener("toggle", (event) => {
  if (!event.target.matches(".fact-reason[open]")) return;
  event.target.querySelector("input:not([type=hidden])").focus({ preventScroll: true });
  event.target.scrollIntoView({ block: "nearest" });
}, true);

document.addEventListener("keydown", (event) => {
  const form = event.key === "Escape" && event.target.closest(".fact-reason[open]");
  if (!form) return;
  form.open = false;
  form.closest(".fact").querySelector("[type=radio]").focus({ preventScroll: true });
  event.preventDefault();
}, true);

// Their keys are those of the selected fact: where none is, nothing happens, and that is said.
document.addEventListener("keydown", (event) => {
  if (!isKey(event, "retire-fact") && !isKey(event, "restore-fact")) return;
  if (isOff(event) || event.defaultPrevented || event.repeat || isBusy()) return;
  const facts = document.querySelectorAll("#facts-box [name=fact]");
  if (!facts.length || event.target.closest("input:not([type=radio], [type=checkbox]), select, textarea")) return;
  if (![...facts].some((fact) => fact.checked)) say("Select a fact first, by its number.", "attention");
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id === "facts-box" && event.detail.elt.querySelector(".fact-reason[open]")) event.preventDefault();
});

// A list that was asked for before the field was opened, or the form sent, may still arrive. It is not taken: the next
// one brings the news.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig } = event.detail;
  if (requestConfig?.elt.id !== "facts-box") return; // what a form sent is answered in any case
  if (isBusy() || requestConfig.elt.querySelector(".fact-reason[open]")) event.detail.shouldSwap = false;
});

// After an act the list is a new one: whoever walks by keys goes on from where they were.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.elt.id !== "facts-box" || document.activeElement !== document.body) return;
  event.detail.elt.querySelector("[type=radio]:checked")?.focus({ preventScroll: true });
});
