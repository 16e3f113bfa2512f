/*
 * What was chosen and written for a task and not submitted yet, by pair, so that a reload, a lost session or a pair
 * brought back in between loses nothing. Kept in this tab alone.
 */
import { seconds } from "./clock.js";
import { attempt } from "./kept.js";

const PREFIX = "arena-draft:";
const MOST = 20; // pairs; the oldest are forgotten
const UNKEPT = ["csrfmiddlewaretoken", "assignment", "seconds"];

const read = (key) => attempt(() => JSON.parse(sessionStorage.getItem(key)));

function forgetOldest() {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  keys.sort((one, other) => (read(other)?.at || 0) - (read(one)?.at || 0));
  keys.slice(MOST).forEach((key) => sessionStorage.removeItem(key));
}

export function save(form) {
  const fields = [...new FormData(form)].filter(([name]) => !UNKEPT.includes(name));
  const draft = { at: Date.now(), seconds: seconds(), fields };
  attempt(() => {
    sessionStorage.setItem(PREFIX + form.elements.assignment.value, JSON.stringify(draft));
    forgetOldest();
  });
}

/* Fill in what was kept for the pair of this form; returns the seconds it had been looked at. */
export function restore(form) {
  const draft = read(PREFIX + form.elements.assignment.value);
  const asked = form.elements.asked?.value;
  if (!draft || draft.fields.find(([name]) => name === "asked")?.[1] !== asked) {
    return 0; // nothing was kept, or it answers something else than what is asked now
  }
  for (const input of form.querySelectorAll("input[type=radio], input[type=checkbox]")) {
    input.checked = draft.fields.some(([name, value]) => name === input.name && value === input.value);
  }
  for (const input of form.querySelectorAll("input[type=number]")) {
    input.value = draft.fields.find(([name]) => name === input.name)?.[1] || "";
  }
  form.elements.rationale.value = draft.fields.find(([name]) => name === "rationale")?.[1] || "";
  return Number(draft.seconds) || 0;
}

export function drop(assignment) {
  attempt(() => sessionStorage.removeItem(PREFIX + assignment));
}
