/* What the browser keeps between pages. Storage that is switched off or full loses it, not the page. */
export function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

export const isOn = (name) => attempt(() => localStorage.getItem(name)) === "1";
export const turn = (name, on) => attempt(() => localStorage.setItem(name, on ? "1" : ""));
