/* The answer to the task on screen: its questions, the reasons for it, and choosing that submits by itself. */
import * as clock from "./clock.js";
import * as drafts from "./drafts.js";
import { isOn, turn } from "./kept.js";

const OPTION = "arena-choosing-submits";
const DELAY = 350; // milliseconds in which a choice that submits can be taken back
let counting = null;

export const form = () => document.getElementById("answer");
const rows = () => [...form().querySelectorAll("fieldset[data-row]")];
const field = (row) => row.querySelector("input[type=number]"); // a score that is written
const chosen = (row) => row.querySelector("input:checked") || (field(row)?.value ? field(row) : null);
const isChecks = () => Boolean(form()?.querySelector(".checks"));
const activeRow = () => rows().find((row) => row.hasAttribute("data-active")) || rows()[0];

function activate(row) {
  const all = rows();
  for (const each of all) {
    each.toggleAttribute("data-active", each === row && all.length > 1);
  }
  if (isChecks()) {
    form().querySelector("[data-step]").textContent = `${all.indexOf(row) + 1} of ${all.length}`;
    row.scrollIntoView({ block: "nearest" });
  }
}

/* Not the first button of a row: Space would choose it. */
function focusOn(row) {
  (chosen(row) || row).focus({ preventScroll: true });
}

function caption(input) {
  const label = input?.closest("label");
  const words = label?.querySelector(".point-caption, .choice-caption") || label?.querySelector(".point-number");
  return words ? words.firstChild.textContent.trim() : input?.value || "";
}

function tell(selector, row) {
  const place = row.querySelector(selector);
  if (place) {
    place.textContent = caption(chosen(row.dataset.row ? row : rows()[0]));
  }
}

function tellChosen(row) {
  tell(".scale-chosen", row);
  tell(".answer-chosen", form());
  if (isChecks()) {
    const answered = rows().filter(chosen).length;
    form().querySelector("[data-answered]").textContent = `${answered} of ${rows().length} answered`;
  }
}

function changed(row) {
  tellChosen(row);
  const all = rows();
  const later = all.slice(all.indexOf(row) + 1);
  activate([...later, ...all].find((each) => !chosen(each)) || row);
  drafts.save(form());
}

/* The choice beside the one made, from which Enter and the other arrows go on. */
function step(row, by) {
  const inputs = [...row.querySelectorAll("input[type=radio]")];
  const at = inputs.indexOf(chosen(row));
  const input = inputs[at < 0 ? (by > 0 ? 0 : inputs.length - 1) : at + by];
  if (input) {
    input.checked = true;
    input.focus({ preventScroll: true });
    tellChosen(row);
    drafts.save(form());
  }
}

function move(by) {
  const next = rows()[rows().indexOf(activeRow()) + by];
  if (next) {
    activate(next);
    focusOn(next);
  }
}

// What lacks an answer must be on screen before the browser points at it.
document.addEventListener("invalid", (event) => {
  const row = form()?.contains(event.target) && rows().find((each) => !chosen(each));
  if (row) {
    activate(row);
  }
}, true);

document.addEventListener("change", (event) => {
  const row = event.target.closest?.("fieldset[data-row]");
  if (row) {
    changed(row);
  } else if (form()?.contains(event.target)) {
    drafts.save(form());
  }
});

document.addEventListener("input", (event) => {
  if (event.target.id === "rationale" || event.target.matches(".score-field")) {
    drafts.save(form());
  }
});

/* --- Choosing submits -------------------------------------------------------------------------------------- */

const option = () => document.getElementById("choosing-submits");

function submits() {
  return Boolean(option()?.checked) && rows().length === 1;
}

export function stopCounting() {
  clearTimeout(counting);
  counting = null;
  form()?.classList.remove("is-counting");
}

function count() {
  stopCounting();
  if (!submits()) {
    return;
  }
  form().classList.add("is-counting");
  counting = setTimeout(() => {
    stopCounting();
    submit();
  }, DELAY);
}

export function submit() {
  const missing = isChecks() && rows().find((row) => !chosen(row));
  if (missing) {
    activate(missing);
    focusOn(missing);
    const number = rows().indexOf(missing) + 1;
    document.getElementById("announcer").textContent = `Requirement ${number} has no answer yet.`;
    return;
  }
  form().requestSubmit(form().querySelector(".answer-submit"));
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-comment]")) {
    comment();
  }
  const mover = event.target.closest?.("[data-move]");
  if (mover) {
    move(Number(mover.dataset.move));
  }
});

// A finger or a mouse chooses as a number does; arrows only move between the answers.
document.addEventListener("click", (event) => {
  if (event.target.matches?.("#answer fieldset[data-row] input") && event.detail > 0) {
    count();
  }
});

document.addEventListener("change", (event) => {
  if (event.target === option()) {
    turn(OPTION, option().checked);
  }
});

if (option()) {
  option().checked = isOn(OPTION);
}

/* A task has come to the screen. */
export function start() {
  stopCounting();
  clock.start(drafts.restore(form()));
  rows().forEach(tellChosen);
  form().classList.toggle("is-commenting", form().elements.rationale.value !== "");
  activate(rows().find((row) => !chosen(row)) || rows()[0]);
}

/* Choose by a key; returns whether it means something here. */
export function choose(key) {
  if (field(activeRow()) && /^\d$/.test(key)) {
    field(activeRow()).focus();
    return false; // it is written there
  }
  const input = [...activeRow().querySelectorAll("input")].find((each) => each.dataset.key === key);
  if (!input) {
    return false;
  }
  stopCounting();
  input.checked = true;
  input.focus({ preventScroll: true });
  input.dispatchEvent(new Event("change", { bubbles: true }));
  if (isChecks()) {
    focusOn(activeRow());
  }
  count();
  return true;
}

/* Arrows move between requirements and within them, and along a score; returns whether they do here. */
export function arrow(key) {
  const [row, vertical] = [activeRow(), { arrowup: -1, arrowdown: 1 }[key]];
  if (!row.matches(".check, .scale-score") || field(row) || (vertical && !isChecks())) {
    return false;
  }
  if (vertical) {
    move(vertical);
  } else {
    step(row, key === "arrowleft" ? -1 : 1);
  }
  return true;
}

/* Whether all requirements are answered. */
export const isChecked = () => isChecks() && rows().every(chosen);

/* Choose or unchoose a reason by its letter; returns whether there is one. */
export function reason(letter) {
  const box = chosen(rows()[0]) && form().querySelector(`.reason input[data-key="${letter}"]`);
  box?.click();
  return Boolean(box);
}

/* Both answers are the same text: choose the tie; where nothing else is asked, that is the answer. */
export function tie() {
  const button = document.querySelector("#task [data-tie]");
  if (!button) {
    return false;
  }
  activate(rows()[0]);
  const input = rows()[0].querySelector(`input[value="${button.dataset.tie}"]`);
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  if (rows().length === 1) {
    submit();
  } else {
    activeRow().querySelector("input").focus({ preventScroll: true });
  }
  return true;
}

export function comment() {
  form().classList.add("is-commenting");
  document.getElementById("rationale").focus();
}

/* Whether a choice could submit by itself, and does not yet. */
export const canSubmit = () => Boolean(option() && !option().checked) && rows().length === 1;

export function setSubmits(on) {
  option().checked = on;
  option().dispatchEvent(new Event("change", { bubbles: true }));
}

export function leaveComment() {
  (chosen(activeRow()) || document.getElementById("prompt-title")).focus({ preventScroll: true });
}

/* What is sent, as pairs of names and values. */
export function fields() {
  form().elements.seconds.value = clock.seconds();
  return [...new FormData(form())].filter(([name]) => name !== "csrfmiddlewaretoken");
}

export function said() {
  const comment = form().elements.rationale.value.trim();
  const said = isChecks() ? rows().map((row) => caption(chosen(row))).join(", ") : caption(chosen(rows()[0]));
  return said + (comment ? `. Your comment: ${comment}` : "");
}
