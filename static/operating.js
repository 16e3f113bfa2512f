/*
 * The operators' pages: copying links, and asking for new figures while somebody looks. Without this file the
 * links can be selected, and the figures come with the page.
 */

for (const part of document.querySelectorAll(".needs-script")) {
  part.hidden = false;
}

/* --- Copying ----------------------------------------------------------------------------------------------- */

async function copy(button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    // Without the right to the clipboard, as on a page without HTTPS: selected, Ctrl+C copies it.
    button.previousElementSibling?.select?.();
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

for (const field of document.querySelectorAll("input.link-text")) {
  field.addEventListener("focus", () => field.select());
}

/* --- Figures that move ------------------------------------------------------------------------------------- */

/* Only while the page is looked at, and at once when somebody comes back to it after longer. */
for (const part of document.querySelectorAll("[data-refresh]")) {
  const pause = Number(part.dataset.refresh) * 1000;
  let asked = Date.now();
  const ask = () => {
    if (document.visibilityState === "visible" && Date.now() - asked >= pause) {
      asked = Date.now();
      window.htmx?.trigger(part, "due");
    }
  };
  setInterval(ask, 1000);
  document.addEventListener("visibilitychange", ask);
  part.addEventListener("htmx:afterSwap", () => {
    for (const note of part.querySelectorAll(".needs-script")) {
      note.hidden = false;
    }
  });
}
