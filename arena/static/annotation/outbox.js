/*
 * Answers on their way. Each is written down in this browser before it is sent, and stays there until the server has
 * said that it has it. The server knows every pair by its id and takes an answer once, so sending one again, also from
 * another tab, changes nothing.
 */
import { attempt } from "./kept.js";
import { ask, place } from "./server.js";

const PREFIX = `arena-outbox:${place.rater}:${place.study}:`;
const LONGEST_WAIT = 30_000; // milliseconds between two attempts
export const SLOW = 1500; // milliseconds after which a rater is told that something waits
const listeners = {};
const memory = new Map(); // where the browser stores nothing

let attempts = 0;
let timer = null;
export let trouble = ""; // why sending stopped: "", "away" or "signed-out"

/* --- What is written down ---------------------------------------------------------------------------------- */

function write(entry) {
  const key = PREFIX + entry.assignment;
  try {
    localStorage.setItem(key, JSON.stringify(entry));
    memory.delete(key);
  } catch {
    memory.set(key, entry);
  }
}

function remove(entry) {
  memory.delete(PREFIX + entry.assignment);
  attempt(() => localStorage.removeItem(PREFIX + entry.assignment));
}

const read = (key) => attempt(() => JSON.parse(localStorage.getItem(key)));

function stored() {
  const keys = attempt(() => Object.keys(localStorage)) || [];
  return keys.filter((key) => key.startsWith(PREFIX)).map(read).filter(Boolean);
}

const entries = () => [...stored(), ...memory.values()].sort((one, other) => one.at - other.at);
export const waiting = () => entries().filter((entry) => !entry.refused);

function tell(event, detail) {
  (listeners[event] || []).forEach((listener) => listener(detail));
}

/* --- Sending ----------------------------------------------------------------------------------------------- */

function later(kind) {
  trouble = kind;
  attempts += 1;
  clearTimeout(timer);
  timer = setTimeout(flush, Math.min(LONGEST_WAIT, 500 * 2 ** attempts));
  tell("changed");
}

async function sendAll() {
  for (const entry of waiting()) {
    const { kind, data } = await ask(place[entry.kind], entry.fields);
    if (kind === "away" || kind === "signed-out") {
      later(kind);
      return;
    }
    if (kind === "refused") {
      write({ ...entry, refused: data.detail, reopen: Boolean(data.reopen) });
      tell("refused", { reply: data });
    } else {
      remove(entry);
      tell("stored", { entry, reply: data });
    }
    trouble = "";
    attempts = 0;
  }
  clearTimeout(timer);
  tell("changed");
}

let sending = null;

/* Send what waits; one tab at a time, where the browser lets tabs agree. Returns whether nothing waits any more. */
export async function flush() {
  sending ??= (navigator.locks ? navigator.locks.request(PREFIX, sendAll) : sendAll()).finally(() => {
    sending = null;
  });
  await sending;
  if (waiting().length && !trouble) {
    return flush(); // something was added while the last was under way
  }
  return waiting().length === 0;
}

function retry() {
  if (waiting().length) {
    flush();
  }
}

window.addEventListener("online", retry);
window.addEventListener("focus", retry);
window.addEventListener("storage", (event) => {
  if (event.key?.startsWith(PREFIX)) {
    tell("changed");
  }
});
window.addEventListener("beforeunload", (event) => {
  if (waiting().length) {
    event.preventDefault();
  }
});

export const refused = () => entries().filter((entry) => entry.refused);
export const has = (assignment) => waiting().some((entry) => entry.assignment === assignment);
export const isSlow = () => waiting().some((entry) => Date.now() - entry.at > SLOW);

/* kind: rate, skip or flag, which names the address; said: the answer in words, should it be refused. */
export function add(kind, assignment, fields, said) {
  trouble = "";
  write({ kind, assignment, fields, said, at: Date.now() });
  tell("changed");
}

export function again(entry) {
  write({ ...entry, refused: undefined });
  tell("changed");
  return flush();
}

export function discard(entry) {
  remove(entry);
  tell("changed");
}

export function on(event, listener) {
  (listeners[event] ??= []).push(listener);
}
