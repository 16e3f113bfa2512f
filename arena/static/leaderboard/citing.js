/* Copying a citation. Without it, the text can be marked and copied by hand. */
import { copy } from "../copying.js";

const status = document.getElementById("copied");

for (const button of document.querySelectorAll("[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", () =>
    copy(button, source.textContent.trim(), () => getSelection().selectAllChildren(source), "Marked: copy with the keyboard", (said) => {
      status.textContent = said;
    }),
  );
}
