/*
 * The rating screen: keys, dialogs, the time a pair is looked at, and a draft that survives a reload or a lost session.
 * Without this file the page is a plain form.
 */

const DRAFT = "arena-draft";
const form = () => document.getElementById("answer");
const task = () => document.getElementById("task");

/* --- Time while the page is visible ------------------------------------------------------------------------ */

let seen = 0; // milliseconds
let since = null;

function watch(running) {
  if (since !== null) {
    seen += performance.now() - since;
  }
  since = running ? performance.now() : null;
}

function secondsSeen() {
  watch(!document.hidden);
  return (seen / 1000).toFixed(1);
}

document.addEventListener("visibilitychange", () => watch(!document.hidden));

/* --- Drafts ------------------------------------------------------------------------------------------------ */

function saveDraft() {
  const current = form();
  if (!current) {
    return;
  }
  const values = {};
  for (const [name, value] of new FormData(current)) {
    if (name !== "csrfmiddlewaretoken") {
      values[name] = value;
    }
  }
  values.seconds = secondsSeen();
  sessionStorage.setItem(DRAFT, JSON.stringify(values));
}

function restoreDraft() {
  const current = form();
  const draft = JSON.parse(sessionStorage.getItem(DRAFT) || "{}");
  if (!current || draft.assignment !== current.elements.assignment.value) {
    sessionStorage.removeItem(DRAFT);
    return;
  }
  seen = 1000 * (Number(draft.seconds) || 0);
  for (const input of current.querySelectorAll("input[type=radio]")) {
    input.checked = input.checked || draft[input.name] === input.value;
  }
  current.elements.rationale.value = current.elements.rationale.value || draft.rationale || "";
}

/* --- Questions and their buttons --------------------------------------------------------------------------- */

const rows = () => [...form().querySelectorAll("fieldset[data-row]")];
const chosen = (row) => row.querySelector("input:checked");

function activeRow() {
  return rows().find((row) => row.hasAttribute("data-active")) || rows()[0];
}

function activate(row) {
  for (const each of rows()) {
    each.toggleAttribute("data-active", each === row && rows().length > 1);
  }
}

function sayChoice(row) {
  const input = chosen(row);
  const caption = input ? input.closest("label").querySelector(".point-caption").textContent : "";
  row.querySelector(".scale-chosen").textContent = caption;
}

function choose(number) {
  const row = activeRow();
  const input = row.querySelector(`input[value="${number}"]`);
  if (!input) {
    return;
  }
  input.checked = true;
  input.focus({ preventScroll: true });
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("change", (event) => {
  const row = event.target.closest?.("fieldset[data-row]");
  if (row) {
    sayChoice(row);
    activate(rows().find((each) => !chosen(each)) || row);
    saveDraft();
  }
});

document.addEventListener("input", (event) => {
  if (event.target.id === "rationale") {
    saveDraft();
  }
});

/* --- Keys -------------------------------------------------------------------------------------------------- */

const press = (selector) => task()?.querySelector(selector)?.click();

function isTyping(target) {
  return target.isContentEditable || target.matches("textarea, select, input:not([type=radio])");
}

const KEYS = {
  s: () => press("button[name=skip]"),
  u: () => press("button[name=undo]"),
  c: () => document.getElementById("rationale")?.focus(),
  g: () => openDialog("guidelines"),
  "?": () => openDialog("help"),
};

function submit(event) {
  // A focused link, button or summary answers Enter itself.
  if (event.target.closest("a, button, summary")) {
    return;
  }
  event.preventDefault();
  if (form()) {
    form().requestSubmit(form().querySelector(".answer-submit"));
  } else {
    press("a[hx-get]");
  }
}

/* Out of a comment without the mouse: Ctrl+Enter submits, Escape goes back to the answers. */
function leaveComment(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
    submit(event);
  } else if (event.key === "Escape" && !event.isComposing) {
    (chosen(activeRow()) || task().querySelector("h2")).focus({ preventScroll: true });
  }
}

document.addEventListener("keydown", (event) => {
  if (event.target.id === "rationale") {
    leaveComment(event);
    return;
  }
  const undo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const elsewhere = event.repeat || event.isComposing || document.querySelector("dialog[open]");
  if (elsewhere || isTyping(event.target) || !(plain || undo)) {
    return;
  }
  if (undo) {
    event.preventDefault();
    KEYS.u();
  } else if (/^[1-9]$/.test(event.key) && form()) {
    choose(event.key);
  } else if (event.key === "Enter") {
    submit(event);
  } else if (Object.hasOwn(KEYS, event.key.toLowerCase())) {
    event.preventDefault();
    KEYS[event.key.toLowerCase()]();
  }
});

/* --- Dialogs ----------------------------------------------------------------------------------------------- */

function openDialog(name) {
  document.getElementById(name)?.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openDialog(opener.dataset.dialog);
  }
});

/* --- Sending ----------------------------------------------------------------------------------------------- */

function trouble(text) {
  const place = document.getElementById("trouble");
  place.textContent = text;
  place.hidden = !text;
}

document.addEventListener("submit", (event) => {
  if (event.target === form()) {
    saveDraft();
    form().elements.seconds.value = secondsSeen();
  }
}, true);

document.addEventListener("htmx:sendError", () => {
  trouble("The server could not be reached. Your answer is kept here; submit it again in a moment.");
});

document.addEventListener("htmx:responseError", (event) => {
  trouble(event.detail.xhr.status === 403
    ? "You signed in or out in another tab. Reload this page; your answer is kept."
    : "The server could not take the answer. It is kept here; please submit it again.");
});

/* --- Every pair that comes to the screen ------------------------------------------------------------------- */

function start() {
  trouble("");
  seen = 0;
  since = null;
  watch(!document.hidden);
  for (const hidden of document.querySelectorAll(".needs-script")) {
    hidden.hidden = false;
  }
  if (!form()) {
    return;
  }
  restoreDraft();
  rows().forEach(sayChoice);
  activate(rows().find((row) => !chosen(row)) || rows()[0]);
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "task") {
    return;
  }
  start();
  const heading = task().querySelector("h2");
  heading.focus({ preventScroll: true });
  document.getElementById("announcer").textContent = form() ? "The next pair is shown." : heading.textContent;
});

start();
