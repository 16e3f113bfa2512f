/* Copying a citation. Without it, the text can be marked and copied by hand. */
(() => {
  "use strict";

  const status = document.getElementById("copied");

  async function copy(button) {
    const source = document.getElementById(button.dataset.copies);
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
      status.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(source);
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
      button.textContent = "Marked: copy with the keyboard";
      status.textContent = "Marked: copy with the keyboard";
    }
    window.setTimeout(() => {
      button.textContent = label;
      status.textContent = "";
    }, 2500);
  }

  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
})();
