// What belongs to no card is said above the page, until a key or a click.

export function say(text, tone = "danger") {
  const notice = document.createElement("div");
  notice.className = "notice";
  notice.dataset.tone = tone;
  const words = document.createElement("p");
  words.textContent = text;
  notice.append(words);
  document.getElementById("alerts").replaceChildren(notice);
}

document.addEventListener("htmx:sendError", (event) => {
  if (!event.detail.elt.matches("[hx-trigger]")) say("The server of this page does not answer. Nothing was sent.");
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.detail.elt.matches("[hx-trigger]")) document.getElementById("alerts")?.replaceChildren();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".alerts")) document.getElementById("alerts")?.replaceChildren();
});
