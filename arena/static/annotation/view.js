/* How a pair is looked at: as written or formatted, scrolled together, one at a time on a phone, prompt folded. */
import { isOn, turn } from "./kept.js";

export { prepare } from "./texts.js";

const PREFIX = "arena-view:";
const KEPT = ["sync", "tabs"]; // remembered in this browser; the others hold for this page
const FOLDED = `${PREFIX}folded:${document.getElementById("rating")?.dataset.rater || ""}`;
const on = { raw: false, sync: false, tabs: false };
const task = () => document.getElementById("task");

for (const name of KEPT) {
  on[name] = isOn(PREFIX + name);
}

function apply() {
  for (const button of task().querySelectorAll("[data-toggle]")) {
    button.setAttribute("aria-pressed", String(on[button.dataset.toggle]));
  }
  for (const part of task().querySelectorAll("[data-form]")) {
    part.hidden = (part.dataset.form === "raw") !== on.raw;
  }
  task().toggleAttribute("data-tabs", on.tabs);
  for (const button of task().querySelectorAll("button[data-side]")) {
    button.setAttribute("aria-pressed", String(button.dataset.side === task().dataset.side));
  }
}

export function toggle(name) {
  on[name] = !on[name];
  if (KEPT.includes(name)) {
    turn(PREFIX + name, on[name]);
  }
  apply();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-toggle], button[data-side]");
  if (!button) {
    return;
  }
  button.closest("[popover]")?.hidePopover?.();
  if (button.dataset.toggle) {
    toggle(button.dataset.toggle);
  } else {
    task().dataset.side = button.dataset.side;
    apply();
  }
});

/* --- Folding the prompt: it stays as its reader left it ------------------------------------------------------ */

let folded = isOn(FOLDED);

document.addEventListener("click", (event) => {
  const fold = event.target.closest(".prompt-fold > summary")?.parentElement;
  if (fold) {
    folded = fold.open; // the click is about to turn it
    turn(FOLDED, folded);
  }
});

/* --- Scrolling together ------------------------------------------------------------------------------------ */

let moved = null; // the one that was scrolled by the other, not by its reader

document.addEventListener("scroll", (event) => {
  const text = event.target;
  if (!on.sync || !text.classList?.contains("response-text")) {
    return;
  }
  if (text === moved) {
    moved = null;
    return;
  }
  const other = [...task().querySelectorAll(".response-text")].find((each) => each !== text);
  const share = text.scrollTop / Math.max(1, text.scrollHeight - text.clientHeight);
  const place = Math.round(share * (other.scrollHeight - other.clientHeight));
  if (Math.abs(place - other.scrollTop) >= 1) {
    moved = other;
    other.scrollTop = place;
  }
}, true);

export function start() {
  const fold = task().querySelector(".prompt-fold");
  if (fold) {
    fold.open = !folded;
  }
  apply();
}

export function foldPrompt() {
  task().querySelector(".prompt-fold > summary")?.click();
}

export function foldReference() {
  const fold = task().querySelector(".reference");
  if (fold) {
    fold.open = !fold.open;
  }
}
