/*
 * What the browser keeps between pages. Storage that is switched off or full loses it, not the page.
 */
const Kept = (() => {
  "use strict";

  function attempt(action) {
    try {
      return action();
    } catch {
      return null;
    }
  }

  return {
    attempt,
    isOn: (name) => attempt(() => localStorage.getItem(name)) === "1",
    turn: (name, on) => attempt(() => localStorage.setItem(name, on ? "1" : "")),
  };
})();
