// How far an upload is, where htmx sends it. Without it the browser says so in its own way.

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("[data-upload]")) show(event.detail.elt, 0, "Uploading");
});

document.addEventListener("htmx:xhr:progress", (event) => {
  const { lengthComputable, loaded, total } = event.detail;
  const form = event.target;
  if (!form.matches?.("[data-upload]") || !lengthComputable || form.dataset.upload === "over") return;
  const percent = Math.floor((100 * loaded) / total);
  if (percent === 100) form.dataset.upload = "over"; // what comes then is the answer
  show(form, percent, percent === 100 ? "Arrived, looking at the files" : `Uploading, ${percent} %`);
});

// Nothing arrived: the form stays as it is, and may be sent again.
for (const name of ["htmx:sendError", "htmx:sendAbort", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    if (event.detail.elt.matches("[data-upload]")) progressOf(event.detail.elt).hidden = true;
  });
}

function progressOf(form) {
  return form.querySelector("[data-upload-progress]");
}

function show(form, percent, words) {
  const progress = progressOf(form);
  if (percent === 0) form.dataset.upload = "";
  progress.hidden = false;
  progress.querySelector("progress").value = percent;
  progress.querySelector("[role=status]").textContent = words;
}
