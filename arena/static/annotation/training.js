/*
 * Keys of the training and of adjudication: digits choose, Enter submits or goes on, others look at the pair in another way
 * (view.js). Without scripts all of it works by mouse and Tab.
 */
import * as view from "./view.js";

const form = document.getElementById("answer");
const isForm = form instanceof HTMLFormElement;
const hasPair = Boolean(document.querySelector(".responses"));
const LOOKS = {
  p: () => view.foldPrompt(),
  o: () => view.foldReference(),
  r: () => view.toggle("raw"),
  y: () => view.toggle("sync"),
};

function caption(input) {
  const row = input.closest("fieldset");
  row.querySelector(".scale-chosen").textContent = input.closest("label").querySelector(".point-caption").textContent;
}

// Where several questions are asked, digits answer one after the other, and then change the one in focus.
function choose(digit) {
  const rows = [...form.querySelectorAll("fieldset[data-row]")];
  const focused = document.activeElement.closest("fieldset[data-row]");
  const row = rows.find((each) => !each.querySelector("input:checked")) || focused || rows[0];
  const input = row.querySelector(`input[value="${digit}"]`);
  if (input) {
    input.checked = true;
    input.focus({ preventScroll: true });
    caption(input);
  }
  return Boolean(input);
}

function pressed(key) {
  if (hasPair && Object.hasOwn(LOOKS, key)) {
    LOOKS[key]();
    return true;
  }
  if (isForm && /^[1-8]$/.test(key)) {
    return choose(key);
  }
  if (isForm && key === "Enter") {
    form.requestSubmit();
    return true;
  }
  const target = document.querySelector(key === "t" ? "[data-tie]" : `a[data-key="${key}"]`);
  target?.click();
  return Boolean(target);
}

document.addEventListener("keydown", (event) => {
  const isMine = !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
  // What has the focus does what it always does with Enter.
  const isTaken = event.key === "Enter" && event.target.closest("a, button, summary");
  if (isMine && !isTaken && !event.target.closest("textarea, select, input:not([type=radio])")) {
    if (pressed(event.key.length === 1 ? event.key.toLowerCase() : event.key)) {
      event.preventDefault();
    }
  }
});

// Both answers are the same text. Where more than this is asked, the form says so.
document.querySelector("[data-tie]")?.addEventListener("click", (event) => {
  const overall = form.querySelector(`[name="rating"][value="${event.currentTarget.dataset.tie}"]`);
  overall.checked = true;
  caption(overall);
  form.requestSubmit();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("fieldset[data-row] input")) {
    caption(event.target);
  }
});

form?.addEventListener("submit", (event) => {
  // The same answer sent twice is one, but the second click would cut the first request off.
  if (form.dataset.sent) {
    event.preventDefault();
  }
  form.dataset.sent = "1";
});
// A page that comes back from the browser's memory can be sent again.
window.addEventListener("pageshow", () => delete form?.dataset.sent);

if (hasPair) {
  view.prepare(document);
  view.start();
}

(document.querySelector("[data-focus]") || document.getElementById("prompt-title"))?.focus({ preventScroll: true });
