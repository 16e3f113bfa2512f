/*
 * The page of a battle: what comes of both answers, keys, the vote, and what is said after it. Without this file the page
 * is plain forms, and loads itself anew until both have answered.
 */
import { prepare } from "../annotation/texts.js";

const EVERY = 500; // milliseconds from one look to the next
const HIDDEN = 5000; // where nobody looks
const LONGEST = 8000; // while there is no connection
const SAVE_AFTER = 400; // milliseconds after the last reason

const task = document.getElementById("task");
const form = document.getElementById("vote");
const why = document.getElementById("why");
const trouble = document.getElementById("trouble");
const columns = [...document.querySelectorAll(".battle-answer")];
const known = { address: "", mark: "" }; // the ETag of what the page shows
let failures = 0;
let waiting = null;
let isVoting = false;

const isGoing = () => ["waiting", "answering"].includes(task.dataset.state);

function tell(words) {
  trouble.textContent = words;
  trouble.hidden = !words;
}

function announce(words) {
  document.getElementById("announcer").textContent = words;
}

function reload() {
  location.replace(task.dataset.page);
}

prepare(document);

/* --- What comes ---------------------------------------------------------------------------------------------- */

function address() {
  const [a, b] = columns.map((column) => column.childElementCount);
  return `${task.dataset.poll}?${new URLSearchParams({ battle: task.dataset.battle, a, b })}`;
}

function put(column, news) {
  while (column.childElementCount > news.from) {
    column.lastElementChild.remove();
  }
  for (const html of news.blocks) {
    const block = document.createElement("div");
    block.className = "block";
    block.innerHTML = html; // made safe by the server
    prepare(block);
    column.append(block);
  }
  column.parentElement.querySelector("[data-pending]").hidden = news.complete;
}

function show(now) {
  if (["voted", "void"].includes(now.state) || now.turn !== Number(task.dataset.turn)) {
    reload();
    return;
  }
  const words = task.querySelector("[data-words]");
  if (words.textContent !== now.words) {
    words.textContent = now.words;
    announce(now.words);
  }
  columns.forEach((column, side) => put(column, now.sides[side]));
  task.dataset.state = now.state;
  const can = new Set(now.can);
  const choices = form.querySelector("[data-choices]");
  if (choices.disabled && can.has("vote")) {
    choices.disabled = false;
    form.querySelector("[data-hint]").textContent = "A number rates at once.";
  }
  const stop = task.querySelector(".battle-stop");
  if (stop) {
    stop.style.visibility = can.has("stop") ? "" : "hidden";
  }
  const further = task.querySelector("[data-further]");
  if (further) {
    further.hidden = !can.has("more");
  }
}

async function look() {
  const asked = address();
  const headers = known.address === asked ? { "If-None-Match": known.mark } : {};
  const reply = await fetch(asked, { headers, cache: "no-store" });
  if (reply.status === 200) {
    Object.assign(known, { address: asked, mark: reply.headers.get("ETag") || "" });
    show(await reply.json());
  } else if (reply.status >= 400 && reply.status < 500) {
    reload();
  } else if (reply.status >= 500) {
    throw new Error("The arena cannot answer now.");
  }
}

async function watch() {
  clearTimeout(waiting);
  if (!isGoing() || isVoting) {
    return;
  }
  try {
    await look();
    if (failures) {
      tell("");
    }
    failures = 0;
  } catch {
    failures += 1;
    tell("The connection is lost. What you see stays, and the page goes on by itself.");
  }
  const pause = failures ? Math.min(LONGEST, EVERY * 2 ** failures) : document.hidden ? HIDDEN : EVERY;
  waiting = setTimeout(watch, pause);
}

document.addEventListener("visibilitychange", () => document.hidden || watch());
addEventListener("online", watch);
addEventListener("pageshow", (event) => event.persisted && reload());

/* --- The vote ------------------------------------------------------------------------------------------------- */

const canVote = () => Boolean(form) && !form.querySelector("[data-choices]").disabled && !isVoting;

async function send(target, body) {
  const headers = { Accept: "application/json" };
  return fetch(target.action, { method: "POST", body, headers });
}

async function vote() {
  const body = new FormData(form);
  if (!body.has("rating") && !body.has("neither")) {
    tell("Choose a rating, or say that neither is acceptable.");
    return;
  }
  isVoting = true;
  for (let tries = 0; ; tries += 1) {
    try {
      const reply = await send(form, body);
      if (reply.status === 409) {
        isVoting = false;
        tell((await reply.json()).detail);
        watch();
        return;
      }
      if (reply.status < 500) {
        sessionStorage.setItem("battle-voted", task.dataset.battle);
        reload();
        return;
      }
      throw new Error("not stored");
    } catch {
      tell("Your rating is kept on this page, and sent when there is a connection.");
      await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST, EVERY * 2 ** tries)));
    }
  }
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (canVote()) {
    vote();
  }
});

// A finger or a mouse votes as a number does; arrows only move along the scale.
form?.addEventListener("click", (event) => {
  if (event.target.matches("[name=rating]") && event.detail > 0) {
    form.requestSubmit();
  }
});

function choose(key) {
  const input = form?.querySelector(`[name=rating][data-key="${key}"]`);
  if (!input || !canVote()) {
    return false;
  }
  input.checked = true;
  form.requestSubmit();
  return true;
}

/* --- After the vote ------------------------------------------------------------------------------------------- */

let saving = null;

async function save() {
  const saved = why.querySelector("[data-saved]");
  try {
    const reply = await send(why, new FormData(why));
    saved.textContent = reply.ok ? "Saved." : (await reply.json()).detail;
  } catch {
    saved.textContent = "Not saved: there is no connection. Change it again to try once more.";
  }
}

function saveSoon() {
  clearTimeout(saving);
  saving = setTimeout(() => {
    saving = null;
    save();
  }, SAVE_AFTER);
}

why?.addEventListener("input", saveSoon);
why?.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
addEventListener("pagehide", () => {
  if (saving !== null) {
    navigator.sendBeacon(why.action, new FormData(why));
  }
});

/* --- Keys ------------------------------------------------------------------------------------------------------ */

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    document.getElementById(opener.dataset.dialog).showModal();
  }
});

function open(selector, field) {
  const fold = task.querySelector(selector);
  if (!fold || fold.hidden) {
    return false;
  }
  fold.open = true;
  fold.querySelector(field).focus();
  return true;
}

function tickNeither() {
  const box = canVote() && form.elements.neither;
  if (box) {
    box.checked = !box.checked;
    form.querySelector("[data-hint]").textContent = box.checked ? "Enter rates so. A number says which is less bad." : "A number rates at once.";
  }
  return Boolean(box);
}

const KEYS = {
  n: tickNeither,
  f: () => open("[data-further]", "textarea"),
  c: () => open(".battle-comment", "textarea"),
  b: () => {
    const link = document.getElementById("new-battle");
    link?.click();
    return Boolean(link);
  },
  "?": () => {
    document.getElementById("help").showModal();
    return true;
  },
  enter: () => {
    const isOurs = canVote() && !document.activeElement.closest("a, button, summary") && form.elements.neither.checked;
    if (isOurs) {
      form.requestSubmit(form.querySelector("[formnovalidate]")); // a number is not needed then
    }
    return isOurs;
  },
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  if (field) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      field.form.requestSubmit();
    } else if (event.key === "Escape") {
      field.blur();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) {
    return;
  }
  const key = event.key.toLowerCase();
  if (KEYS[key]?.() || (/^[1-9]$/.test(key) && choose(key))) {
    event.preventDefault();
  }
});

if (sessionStorage.getItem("battle-voted") === task.dataset.battle) {
  sessionStorage.removeItem("battle-voted");
  document.getElementById("voted")?.focus({ preventScroll: true });
}
watch();
