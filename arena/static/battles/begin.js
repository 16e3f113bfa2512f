/* The form that begins a battle: a count of characters, Ctrl+Enter, and work in place of a puzzle. Without it, a plain form. */
import { prepare } from "../annotation/texts.js";
import { canProve, proof } from "../judging/proof.js";

const form = document.getElementById("begin");

function begin() {
  const box = form.elements.prompt;
  const count = form.querySelector("#prompt-count > span");
  const most = Number(box.maxLength);
  const tell = () => {
    const [length, whole] = [box.value.length, most.toLocaleString("en")];
    count.textContent = length ? `${length.toLocaleString("en")} of ${whole} characters.` : `At most ${whole} characters.`;
  };
  box.addEventListener("input", tell);
  tell();
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  box.setSelectionRange(box.value.length, box.value.length);
}

/* Once only, until the browser shows the page again. */
function holdTwice() {
  let isSent = false;
  form.addEventListener("submit", async (event) => {
    if (isSent) {
      event.preventDefault();
      return;
    }
    isSent = true;
    if (form.dataset.bits && canProve && !form.elements.proof.value) {
      event.preventDefault();
      document.getElementById("busy").hidden = false;
      form.elements.proof.value = await proof(form.elements.token.value, Number(form.dataset.bits));
      isSent = false;
      form.requestSubmit(event.submitter);
    }
  });
  addEventListener("pageshow", () => {
    isSent = false;
    document.getElementById("busy").hidden = true;
  });
}

prepare(document);

if (form) {
  begin();
  holdTwice();
}
