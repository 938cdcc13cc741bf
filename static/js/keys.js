// Keys press buttons. Which key presses what stands in the page: data-key, printed from the one table of keys, and for
// what has no button the table itself.

const FIELDS = "input:not([type=checkbox], [type=radio], [type=submit]), select, textarea, [contenteditable]";
const TABLE = JSON.parse(document.getElementById("keys")?.dataset.table ?? "{}");
let busy = 0;

document.addEventListener("htmx:beforeRequest", (event) => { if (!isQuiet(event) && !event.defaultPrevented) busy += 1; });
document.addEventListener("htmx:afterRequest", (event) => { if (!isQuiet(event)) busy = Math.max(busy - 1, 0); });

// Whether something that a person did is on its way.
export function isBusy() {
  return busy > 0;
}

export function isKey(event, action) {
  return event.key === TABLE[action];
}

// Whoever speaks to the computer, or types by accident, can do without single letters.
export function isOff(event) {
  return event.key.length === 1 && document.body.dataset.letters === "off";
}

// Polling and comparing while typing are nobody's action.
function isQuiet(event) {
  return event.detail.elt.matches("[hx-trigger]");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.altKey) return;
  if (event.ctrlKey || event.metaKey) return combined(event);
  if (isKey(event, "leave")) return leave(event);
  if (isOff(event) || event.repeat || busy || event.target.closest(FIELDS) || isCovered()) return;
  if (isKey(event, "keys")) return sheet(event);
  if (isKey(event, "next") || isKey(event, "previous")) return move(event);
  if (isKey(event, "open") && open(event)) return;
  if (isKey(event, "undo") && undoRow(event)) return;
  if (isKey(event, "select-row") && pick(event)) return;
  press(event, event.key);
});

// Inside a field the browser's own meaning counts, save for what is only meant there.
function combined(event) {
  const field = event.target.closest(FIELDS);
  if (event.key === "Enter" && field?.form) return send(event, field.form);
  if (event.key !== "Enter" && (field || isCovered())) return;
  press(event, `Control+${event.key}`);
}

// Control and Enter send the form one types in, and no other of the page: by the button with this key, or by its first.
function send(event, form) {
  if (event.repeat || busy) return;
  const buttons = [...form.elements].filter((each) => each.type === "submit" && !each.disabled);
  const button = buttons.find((each) => each.dataset.key?.split(" ").includes("Control+Enter")) ?? buttons[0];
  if (!button) return;
  event.preventDefault();
  button.click();
}

function isCovered() {
  return document.querySelector(":popover-open, dialog[open]") !== null;
}

function press(event, key) {
  if (event.repeat || busy) return;
  const found = [...document.querySelectorAll("[data-key]")].filter(
    (each) => each.dataset.key.split(" ").includes(key) && !each.disabled && each.checkVisibility(),
  );
  const button = found.find((each) => !each.closest(".rail")) ?? found[0];  // the page itself comes first
  if (!button) return;
  event.preventDefault();
  if (button.matches(FIELDS)) {
    button.focus();
    button.select();
    return;
  }
  if (button.matches("[type=radio]")) {
    button.focus({ preventScroll: true });
    button.parentElement.scrollIntoView({ block: "nearest" });
  }
  button.dataset.fired = "";
  setTimeout(() => delete button.dataset.fired, 160);
  button.click();
  // What it has opened takes the next letter already: "toggle" comes later, and until then letters would be keys.
  if (button.matches("summary")) button.parentElement.querySelector("input:not([type=hidden])")?.focus({ preventScroll: true });
}

function sheet(event) {
  const keys = document.getElementById("keys");
  if (!keys) return;
  event.preventDefault();
  keys.showPopover();
}

function leave(event) {
  const field = event.target.closest(FIELDS);
  if (field) {
    event.preventDefault();
    field.blur();
  }
}

// In a list j and k move, o opens; on a card they press the links of the same key.
function rows() {
  return [...document.querySelectorAll("[data-rows] > li:not(.row-group)")];
}

// What others have decided is passed over and dropped, now that one moves anyway.
function move(event) {
  const all = rows();
  if (!all.length) return press(event, event.key);
  event.preventDefault();
  const at = all.findIndex((row) => row.hasAttribute("aria-current"));
  const way = isKey(event, "next") ? all.slice(at + 1) : all.slice(0, Math.max(at, 0)).reverse();
  const to = way.find(isLive) ?? all[at] ?? all.find(isLive) ?? all[0];
  all[at]?.removeAttribute("aria-current");
  to.setAttribute("aria-current", "true");
  to.querySelector("a, button")?.focus({ preventScroll: true });
  all.filter((row) => row !== to && !isLive(row)).forEach((row) => row.remove());
  to.scrollIntoView({ block: "nearest" });
}

function isLive(row) {
  return row.querySelector("[data-stale]") === null;
}

function open(event) {
  const all = rows();
  const row = all.find((each) => each.hasAttribute("aria-current")) ?? all[0];
  if (!row) return false;
  event.preventDefault();
  row.querySelector("a")?.click();
  return true;
}

// On the log, "undo" is of the row one stands on, and of no other.
function undoRow(event) {
  const button = document.querySelector("[data-rows] > [aria-current] [data-row-key]");
  if (!button) return false;
  event.preventDefault();
  button.click();
  return true;
}

// Picks the row one stands on for what is done to several.
function pick(event) {
  const box = document.querySelector("[data-rows] > [aria-current] [name=pick]");
  if (!box) return false;
  event.preventDefault();
  box.click();
  return true;
}
