/*
 * Proves work before somebody who is not signed in proposes a model: judging/submissions/proof.py. Without this file,
 * or without the browser's own digests, as on a page without HTTPS, the page asks to sign in.
 */
const AT_ONCE = 512; // answers that are tried together

const form = document.querySelector("#propose[data-bits]");
const busy = document.getElementById("propose-busy");

async function begins(token, answer) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${token}:${answer}`));
  return new DataView(digest).getUint32(0) < 2 ** (32 - Number(form.dataset.bits));
}

async function proof(token) {
  for (let start = 0; ; start += AT_ONCE) {
    const tried = await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => begins(token, start + number)));
    if (tried.includes(true)) {
      return start + tried.indexOf(true);
    }
  }
}

if (form && globalThis.crypto?.subtle) {
  const button = form.querySelector("button");
  const work = (works) => {
    button.disabled = works;
    busy.hidden = !works;
  };
  document.getElementById("propose-sign-in").hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    work(true);
    form.elements.proof.value = await proof(form.elements.token.value);
    form.submit();
  });
  addEventListener("pageshow", () => work(false)); // a page that the browser kept
}
