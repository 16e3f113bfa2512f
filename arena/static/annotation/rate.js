/* The rating screen: keys, dialogs and forms. Without scripts the page is a plain form. */
import * as answer from "./answer.js";
import * as screen from "./screen.js";
import { setGoal } from "./sitting.js";
import * as view from "./view.js";

const task = () => document.getElementById("task");
const press = (selector) => task().querySelector(selector)?.click();

/* --- Dialogs ----------------------------------------------------------------------------------------------- */

function openDialog(name) {
  document.getElementById(name)?.showModal();
}

function openFlag() {
  if (answer.form() && !screen.isBusy()) {
    const form = document.getElementById("flag-form");
    form.reset();
    form.elements.assignment.value = screen.current();
    openDialog("flag");
  }
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  event.preventDefault();
  if (opener.dataset.dialog === "flag") {
    openFlag();
  } else {
    openDialog(opener.dataset.dialog);
  }
});

/* --- Forms ------------------------------------------------------------------------------------------------- */

document.addEventListener("submit", (event) => {
  const form = event.target;
  const action = event.submitter?.name;
  if (form.id === "flag-form") {
    event.preventDefault();
    const said = form.querySelector("input:checked").closest("label").lastChild.textContent.trim();
    form.closest("dialog").close();
    screen.flag([...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken"), said);
  } else if (form.id === "sitting-form") {
    setGoal(Number(form.elements.goal.value) || 0);
    screen.tellGoal();
  } else if (action === "undo") {
    event.preventDefault();
    screen.undo(form.elements.reopen?.value || "");
  } else if (form === answer.form()) {
    event.preventDefault();
    if (action === "skip") {
      screen.skip();
    } else {
      screen.rate();
    }
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-tie]")) {
    answer.tie();
  } else if (event.target.closest("a[data-next]")) {
    event.preventDefault();
    screen.goOn();
  }
});

/* --- Keys -------------------------------------------------------------------------------------------------- */

function isTyping(target) {
  return target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
}

const KEYS = {
  s: () => press("button[name=skip]"),
  u: () => press("button[name=undo]"),
  f: openFlag,
  t: () => answer.form() && answer.tie(),
  c: () => answer.form() && answer.comment(),
  p: () => answer.form() && view.foldPrompt(),
  o: () => answer.form() && view.foldReference(),
  r: () => answer.form() && view.toggle("raw"),
  y: () => press(".toggle-sync"),
  g: () => openDialog("guidelines"),
  "?": () => openDialog("help"),
};

function enter(event) {
  // A focused link, button or summary answers Enter itself.
  if (event.target.closest("a, button, summary")) {
    return;
  }
  event.preventDefault();
  if (answer.form()) {
    answer.submit();
  } else {
    press("a[data-next]");
  }
}

/* Out of a comment without the mouse: Ctrl+Enter submits, Escape goes back to the answers. */
function inComment(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
    event.preventDefault();
    answer.submit();
  } else if (event.key === "Escape" && !event.isComposing) {
    answer.leaveComment();
  }
}

/* In the dialog of flags, numbers choose what is wrong. */
function inFlag(event) {
  const reasons = document.querySelectorAll("#flag-form input[name=reason]");
  const reason = /^[1-9]$/.test(event.key) && !isTyping(event.target) && reasons[Number(event.key) - 1];
  if (reason) {
    reason.checked = true;
    reason.focus();
  }
}

/* Arrows and Space, but in a text that scrolls. */
function moves(key, target) {
  if (target.closest("[role=region], a, button, summary")) {
    return false;
  }
  if (key === " " && answer.isChecked()) {
    answer.submit();
    return true;
  }
  return key.startsWith("arrow") && answer.arrow(key);
}

function onPage(event) {
  const key = event.key.toLowerCase();
  const undo = key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
  if (undo) {
    event.preventDefault();
    KEYS.u();
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (answer.form() && (answer.choose(key) || moves(key, event.target))) {
    event.preventDefault();
  } else if (key === "enter") {
    enter(event);
  } else if (Object.hasOwn(KEYS, key)) {
    event.preventDefault();
    KEYS[key]();
  } else if (answer.form() && /^[a-z]$/.test(key) && answer.reason(key)) {
    event.preventDefault();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || (event.repeat && !event.key.startsWith("Arrow"))) {
    return;
  }
  screen.hideReveal();
  answer.stopCounting();
  if (document.querySelector("#flag[open]")) {
    inFlag(event);
  } else if (document.querySelector("dialog[open]")) {
    return;
  } else if (event.target.id === "rationale") {
    inComment(event);
  } else if (event.target.matches(".score-field") && event.key === "Escape") {
    event.target.blur();
  } else if (!isTyping(event.target)) {
    onPage(event);
  }
});

document.addEventListener("pointerdown", () => screen.hideReveal());

screen.begin();
