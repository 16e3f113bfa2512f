/*
 * Proves work before somebody who is not signed in proposes a model. Without this file, or where the browser cannot,
 * the page asks to sign in.
 */
import { canProve, proof } from "./proof.js";

const form = document.querySelector("#propose[data-bits]");
const busy = document.getElementById("propose-busy");

if (form && canProve) {
  const button = form.querySelector("button");
  const work = (works) => {
    button.disabled = works;
    busy.hidden = !works;
  };
  document.getElementById("propose-sign-in").hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    work(true);
    form.elements.proof.value = await proof(form.elements.token.value, Number(form.dataset.bits));
    form.submit();
  });
  addEventListener("pageshow", () => work(false)); // a page that the browser kept
}
