/*
 * One sitting in this tab: how many pairs were rated, a goal if the rater set one, a word to those who rush, and once
 * the offer that choosing submits.
 */
import * as answer from "./answer.js";
import { attempt } from "./kept.js";
import { place } from "./server.js";

const KEY = `arena-sitting:${place.rater}:${place.study}`;
const OFFERED = `arena-offered:${place.rater}`; // pairs until the offer was made, then "made"
const FEW = 10; // pairs whose times are looked at
const OFFER_AFTER = 20; // pairs
const LONG_ENOUGH = 6000; // milliseconds that a hint stays, however fast its reader rates
const empty = { done: 0, goal: 0, seconds: [], warned: false };
const box = document.getElementById("hint");
let accept = null;
let hinted = 0; // when the last hint was shown

let now = { ...empty, ...attempt(() => JSON.parse(sessionStorage.getItem(KEY))) };
const keep = () => attempt(() => sessionStorage.setItem(KEY, JSON.stringify(now)));

function hint(text, { yes = "", no = "Close", action = null } = {}) {
  const [first, second] = box.querySelectorAll("button");
  box.querySelector("span").textContent = text;
  first.textContent = yes;
  first.hidden = !yes;
  second.textContent = no;
  accept = action;
  hinted = Date.now();
  box.hidden = false;
}

box.addEventListener("click", (event) => {
  if (event.target.matches("[data-yes]")) {
    accept?.();
  }
  if (event.target.matches("button")) {
    box.hidden = true;
  }
});

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

function isTooFast() {
  return now.seconds.length === FEW && median(now.seconds) < Number(place.floor);
}

/* Whether it is time to offer that choosing submits; true once for each rater and browser. */
function isTimeToOffer() {
  const before = attempt(() => localStorage.getItem(OFFERED)) || "0";
  if (before === "made" || !answer.canSubmit()) {
    return false;
  }
  const rated = Number(before) + 1;
  attempt(() => localStorage.setItem(OFFERED, rated >= OFFER_AFTER ? "made" : String(rated)));
  return rated >= OFFER_AFTER;
}

export function rated(seconds) {
  now.done += 1;
  now.seconds = [...now.seconds, Number(seconds)].slice(-FEW);
  box.hidden = box.hidden || Date.now() - hinted > LONG_ENOUGH;
  const offer = isTimeToOffer();
  if (now.goal && now.done === now.goal) {
    hint(`You have reached your goal of ${now.goal}. Thank you!`);
  } else if (!now.warned && isTooFast()) {
    now.warned = true;
    hint(`You are very fast: ${median(now.seconds).toFixed(1)} s each. Please read the answers in full.`);
  } else if (offer) {
    hint("Save a step: let a choice submit by itself?", {
      yes: "Turn on",
      no: "No, thanks",
      action: () => answer.setSubmits(true),
    });
  }
  keep();
}

export function apply(task) {
  const text = task.querySelector("[data-progress]");
  if (now.goal && now.done <= now.goal && text) {
    text.textContent = `${now.done} of ${now.goal}`;
    Object.assign(task.querySelector(".progress"), { max: now.goal, value: now.done });
  }
}

/* A goal begins a new count; 0: none. */
export function setGoal(goal) {
  now = { ...now, goal, done: 0 };
  keep();
}
