/*
 * What is on screen: one pair, the next one held ready, and what the rater should know about answers on their way.
 * An answer goes to the outbox and the next pair appears at once; the server is told in the background.
 */
import * as answer from "./answer.js";
import { seconds } from "./clock.js";
import { drop } from "./drafts.js";
import * as outbox from "./outbox.js";
import { ask, place } from "./server.js";
import * as sitting from "./sitting.js";
import * as view from "./view.js";

const RETRY = 5000; // milliseconds
const SHOWN = {
  compare: "The next pair is shown.",
  score: "The next answer to score is shown.",
  check: "The requirements of an answer are shown.",
};
const task = () => document.getElementById("task");
export const current = () => task().dataset.assignment || "";
const element = (id) => document.getElementById(id);

let ready = null; // the pair after the one on screen
let fetching = false; // the next pair is being fetched
let busy = false; // a pair is being fetched to be shown now
let stranded = false; // there is no pair on screen because there is no connection
let timer = null;

function trouble(text) {
  element("trouble").textContent = text;
  element("trouble").hidden = !text;
}

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const node = template.content.firstElementChild;
  view.prepare(node);
  return node;
}

/* --- Showing ----------------------------------------------------------------------------------------------- */

function start() {
  stranded = false;
  if (!answer.form()) {
    return;
  }
  answer.start();
  view.start();
  sitting.apply(task());
  const undo = task().querySelector("button[name=undo]");
  undo.disabled = undo.disabled && !outbox.waiting().length;
}

/* A pair that was fetched ahead does not know how far its rater has come: that of the pair before holds. */
function keepProgress(node) {
  const [text, bar] = [node.querySelector("[data-progress]"), node.querySelector("progress")];
  const before = task();
  if (text && !text.textContent && before.querySelector("[data-progress]")) {
    text.textContent = before.querySelector("[data-progress]").textContent;
    bar.max = before.querySelector("progress").max;
    bar.value = before.querySelector("progress").value;
  }
}

function show(node) {
  trouble("");
  keepProgress(node);
  task().replaceWith(node);
  start();
  window.scrollTo(0, 0);
  const heading = task().querySelector("h2");
  heading.focus({ preventScroll: true });
  element("announcer").textContent = SHOWN[task().dataset.kind] || heading.textContent;
}

function strand() {
  if (!stranded) {
    const message = parsed(element("waiting").innerHTML);
    if (outbox.trouble === "signed-out") {
      message.querySelector("h2").textContent = "You are signed out";
    }
    show(message);
    stranded = true;
  }
  clearTimeout(timer);
  timer = setTimeout(goOn, RETRY);
}

/* Send what waits, then show what the server says is next: it does not know yet what was not sent. */
export async function goOn() {
  clearTimeout(timer);
  await occupied(async () => {
    if (await outbox.flush()) {
      await load();
    } else {
      strand();
    }
  });
  prefetch();
}

async function load() {
  const { kind, data } = await ask(place.rate);
  if (kind === "ok") {
    ready = null;
    show(parsed(data.html));
  } else if (kind === "refused") {
    trouble(data.detail);
  } else if (kind === "signed-out") {
    location.assign(place.login); // nothing waits here, and drafts outlast it
  } else {
    strand();
  }
}

/* Hold the pair after this one ready. Never before the last answer has arrived: the server would offer its pair again. */
async function prefetch() {
  const after = current();
  if (!after || ready || fetching || busy || outbox.waiting().length) {
    return;
  }
  fetching = true;
  const asked = new URLSearchParams({ after, seen: seconds() });
  const { kind, data } = await ask(`${place.next}?${asked}`);
  fetching = false;
  if (after !== current()) {
    prefetch();
  } else if (kind === "ok" && data.assignment && data.assignment !== after) {
    ready = parsed(data.html);
  }
}

/* The answer is in the outbox: show the next pair, at once if it is here already. */
function advance() {
  element("reveal").hidden = true;
  if (ready) {
    const node = ready;
    ready = null;
    show(node);
    outbox.flush();
  } else {
    goOn();
  }
}

/* While a pair is fetched, the one on screen takes no answer. */
async function occupied(action) {
  if (busy) {
    return;
  }
  busy = true;
  task().setAttribute("aria-busy", "true");
  try {
    await action();
  } finally {
    busy = false;
    task().removeAttribute("aria-busy");
  }
}

/* --- What the rater does ----------------------------------------------------------------------------------- */

function leave(kind, fields, said) {
  const assignment = current();
  if (busy || !assignment) {
    return;
  }
  answer.stopCounting();
  outbox.add(kind, assignment, fields, said);
  drop(assignment);
  advance();
}

export function rate() {
  // A rating that is changed was counted before.
  if (!busy && current() && !task().querySelector(".point-earlier")) {
    sitting.rated(seconds());
  }
  leave("rate", answer.fields(), answer.said());
}

export function skip() {
  leave("skip", [["assignment", current()]], "Skip");
}

export function flag(fields, said) {
  leave("flag", fields, `Flag: ${said}`);
}

/* Bring back the last pair, or the one named. */
export async function undo(reopen = "") {
  await occupied(async () => {
    if (!(await outbox.flush())) {
      trouble("Undo works once your ratings have been sent.");
      return;
    }
    const { kind, data } = await ask(place.undo, [["reopen", reopen]]);
    if (kind === "ok") {
      ready = null;
      show(parsed(data.html));
    } else if (kind === "refused") {
      trouble(data.detail);
    } else if (kind === "signed-out") {
      location.assign(place.login);
    } else {
      trouble("You are offline. Nothing was changed; try again in a moment.");
    }
  });
  prefetch();
}

/* --- What became of it ------------------------------------------------------------------------------------- */

function tellProgress(progress) {
  const text = task().querySelector("[data-progress]");
  if (text) {
    text.textContent = progress.text;
    Object.assign(task().querySelector(".progress"), { max: progress.total, value: progress.rated });
    sitting.apply(task());
  }
  const undoButton = task().querySelector("button[name=undo]");
  if (undoButton) {
    undoButton.disabled = !progress.can_undo;
  }
}

function tellWaiting() {
  const count = outbox.waiting().length;
  const signedOut = outbox.trouble === "signed-out";
  const box = element("outbox");
  box.hidden = count === 0 || !(outbox.trouble || outbox.isSlow());
  if (count && box.hidden) {
    setTimeout(tellWaiting, outbox.SLOW + 100);
  }
  if (box.hidden) {
    return;
  }
  const what = count === 1 ? "1 rating is waiting to be sent" : `${count} ratings are waiting to be sent`;
  box.querySelector("span").textContent = signedOut
    ? `You are signed out. ${what}; nothing is lost.`
    : `${what}. Nothing is lost; this page keeps trying.`;
  box.querySelector("a").hidden = !signedOut;
}

const TITLES = { rate: "A rating was not stored.", skip: "A skip was not stored.", flag: "A flag was not stored." };

function tellRefused() {
  const list = element("refusals");
  const items = outbox.refused().map((entry) => {
    const item = element("refusal").content.firstElementChild.cloneNode(true);
    item.querySelector("[data-what]").textContent = TITLES[entry.kind];
    item.querySelector("[data-why]").textContent = entry.refused;
    item.querySelector("[data-said]").textContent = `What you sent: ${entry.said}`;
    item.querySelector("[data-reopen]").hidden = !entry.reopen;
    item.querySelector("[data-again]").hidden = entry.reopen;
    item.querySelector("[data-reopen]").addEventListener("click", () => {
      outbox.discard(entry);
      undo(entry.assignment);
    });
    item.querySelector("[data-again]").addEventListener("click", () => outbox.again(entry));
    item.querySelector("[data-discard]").addEventListener("click", () => outbox.discard(entry));
    return item;
  });
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
}

outbox.on("stored", ({ reply }) => {
  tellProgress(reply.progress);
  element("reveal").textContent = reply.reveal || "";
  element("reveal").hidden = !reply.reveal;
});
outbox.on("refused", ({ reply }) => {
  if (reply.progress) {
    tellProgress(reply.progress); // the other tab's answers count too
  }
});
outbox.on("changed", () => {
  tellWaiting();
  tellRefused();
  if (stranded && !outbox.waiting().length) {
    goOn();
  }
  prefetch();
});

export const isBusy = () => busy;
export const isSettled = () => !busy && !fetching && !stranded;
export const tellGoal = () => sitting.apply(task());
export const hideReveal = () => { element("reveal").hidden = true; };

/* The page has come: what waits from before is sent, and the next pair fetched. */
export function begin() {
  view.prepare(document);
  start();
  tellRefused();
  if (outbox.has(current())) {
    advance();
  } else {
    outbox.flush();
  }
}
