// Several rows at once: the bar says how many are selected and how many of them an approval leaves out, as the server
// will count them. Its number goes with the request; where the server counts another one, it asks first.

const WHY = { flagged: "flagged", clipped: "too long to be seen here", unloaded: "not loaded" };

function boxes() {
  return [...document.querySelectorAll("[data-rows] [name=pick]")];
}

function count() {
  const bar = document.querySelector("[data-bulk]");
  if (!bar) return;
  const all = boxes().filter((box) => !box.disabled);
  const picked = all.filter((box) => box.checked);
  const left = picked.filter((box) => box.dataset.left);
  const kinds = Object.keys(WHY).map((why) => [left.filter((box) => box.dataset.left === why).length, WHY[why]]);
  const out = kinds.filter(([number]) => number).map(([number, why]) => `${number} ${why}`).join(", ");
  const said = picked.length ? `${picked.length} selected.${out ? ` Left out: ${out}; open them first.` : ""}` : "";
  const place = bar.querySelector("[data-bulk-said]");
  if (place.textContent !== said && (said || bar.dataset.counted)) place.textContent = said;
  const approve = bar.querySelector("[data-bulk-approve]");
  const number = picked.length - left.length;
  approve.value = picked.length ? String(number) : "";
  approve.querySelector("[data-bulk-word]").textContent = number ? `Approve ${number}` : "Approve the selected";
  bar.querySelectorAll("button").forEach((button) => { button.disabled = !picked.length; });
  const every = bar.querySelector("[data-pick-all]");
  every.checked = all.length > 0 && picked.length === all.length;
  every.indeterminate = picked.length > 0 && !every.checked;
  bar.toggleAttribute("data-some", picked.length > 0);
  if (picked.length) bar.dataset.counted = "";
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-pick-all]")) {
    [...event.target.form.elements].filter((box) => box.name === "pick" && !box.disabled)
      .forEach((box) => { box.checked = event.target.checked; });
  }
  if (event.target.matches("[data-pick-all], [name=pick]")) count();
});

// What somebody else has decided is no longer selected.
document.addEventListener("htmx:oobAfterSwap", () => {
  document.querySelectorAll("[data-rows] > li:has([data-stale]) [name=pick]").forEach((box) => {
    box.checked = false;
    box.disabled = true;
  });
  count();
});

addEventListener("pageshow", count);
count();
