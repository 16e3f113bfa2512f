/*
 * The import pages: dropping files, the progress of an upload, and which parts of a mapping count.
 * Without this file the pages are plain forms.
 */
import "../operating/operate.js";

/* --- Upload ------------------------------------------------------------------------------------------------ */

const MIB = 1024 * 1024;
const LONG_TEXT = MIB; // what is longer than this is sent as a file: forms take less text than files
const upload = document.getElementById("import-upload");

const megabytes = (bytes) => (bytes < MIB / 10 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / MIB).toFixed(1)} MB`);

function chosenFiles() {
  return [...upload.elements.uploads.files];
}

function refuse(text) {
  const note = document.createElement("p");
  note.className = "notice notice-error";
  note.textContent = text;
  document.getElementById("import-errors").replaceChildren(...(text ? [note] : []));
}

function isTooMuch() {
  const total = chosenFiles().reduce((sum, file) => sum + file.size, 0);
  const limit = Number(upload.dataset.limit);
  refuse(total > limit ? `These files have ${megabytes(total)} together. You can upload at most ${megabytes(limit)} at a time. Send larger files gzipped or in parts, or run: python manage.py import_data STUDY PATH` : "");
  return total > limit;
}

function showChosen() {
  const list = document.getElementById("import-chosen");
  list.replaceChildren(
    ...chosenFiles().map((file) => {
      const item = document.createElement("li");
      item.textContent = `${file.name} (${megabytes(file.size)})`;
      return item;
    }),
  );
  list.hidden = !list.children.length;
  isTooMuch();
}

function watchDrops() {
  const zone = document.getElementById("import-drop");
  const over = (event) => {
    if (event.dataTransfer.types.includes("Files")) {
      event.preventDefault();
      zone.classList.toggle("is-over", event.type !== "dragleave" && event.type !== "drop");
    }
  };
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, over);
  }
  zone.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length) {
      upload.elements.uploads.files = event.dataTransfer.files;
      showChosen();
    }
  });
}

function contents() {
  const data = new FormData(upload);
  const text = data.get("pasted");
  if (text.length > LONG_TEXT) {
    const ending = /^\s*[[{]/.test(text) ? "jsonl" : "csv";
    data.delete("pasted");
    data.append("uploads", new Blob([text]), `pasted.${ending}`);
  }
  return data;
}

function showSending(sending) {
  document.getElementById("import-sending").hidden = !sending;
  for (const button of upload.querySelectorAll(".form-actions button")) {
    button.disabled = sending;
  }
}

function arrived(request) {
  if (request.status < 400 && request.responseURL !== location.href) {
    location.assign(request.responseURL);
    return;
  }
  showSending(false);
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const said = [...page.querySelectorAll("#import-errors .notice")].map((note) => note.textContent);
  refuse(said.join(" ") || `The upload failed (${request.status}). Try again.`);
}

function send(event) {
  event.preventDefault();
  if (isTooMuch()) {
    return;
  }
  const request = new XMLHttpRequest();
  const bar = upload.querySelector("progress");
  const text = document.getElementById("import-sent");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.value = (100 * loaded) / total;
    text.textContent = loaded < total ? `Uploading: ${megabytes(loaded)} of ${megabytes(total)}` : "Uploaded, storing the files";
  });
  request.addEventListener("load", () => arrived(request));
  request.addEventListener("error", () => {
    showSending(false);
    refuse("The upload broke off. Try again.");
  });
  request.addEventListener("abort", () => showSending(false));
  document.getElementById("import-abort").onclick = () => request.abort();
  refuse("");
  showSending(true);
  request.open("POST", location.href);
  request.send(contents());
}

if (upload) {
  watchDrops();
  upload.elements.uploads.addEventListener("change", showChosen);
  upload.addEventListener("submit", send);
  showChosen();
}

/* --- Mapping ----------------------------------------------------------------------------------------------- */

function showMapping() {
  for (const part of document.querySelectorAll("[data-shown-for]")) {
    part.hidden = document.getElementById(part.dataset.shownFor).value !== "table";
  }
  for (const part of document.querySelectorAll("[data-kind-of]")) {
    part.hidden = document.getElementById(part.dataset.kindOf).value !== part.dataset.kind;
  }
}

const optionOf = ([value, label]) => new Option(label, value);

function optionsOf([value, label]) {
  if (!Array.isArray(label)) {
    return optionOf([value, label]);
  }
  const group = document.createElement("optgroup");
  group.label = value;
  group.append(...label.map(optionOf));
  return group;
}

/* Another kind of rows has other fields: each column is guessed anew, or stays what no other column is guessed to be. */
function offerFields({ target }) {
  const columns = document.querySelector(`[data-columns-of="${target.id}"]`);
  if (!columns) {
    return;
  }
  const ofKind = (id) => JSON.parse(document.getElementById(id).textContent)[target.value];
  const fields = ofKind("import-fields-by-kind");
  const guesses = ofKind(columns.dataset.guesses);
  for (const [number, select] of columns.querySelectorAll("select").entries()) {
    const chosen = guesses[number] || (guesses.includes(select.value) ? "" : select.value);
    select.replaceChildren(...fields.map(optionsOf));
    select.value = chosen;
    select.selectedIndex = Math.max(select.selectedIndex, 0);
  }
}

document.addEventListener("change", showMapping);
document.addEventListener("change", offerFields);
showMapping();

/* --- One click is enough ----------------------------------------------------------------------------------- */

for (const form of document.querySelectorAll("form.import-decide")) {
  form.addEventListener("submit", () => setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = true))));
}
