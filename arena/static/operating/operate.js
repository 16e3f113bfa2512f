/*
 * The operators' pages: showing the settings that act, copying links, proposing the address of a new study, asking
 * before something typed is lost, and asking for new figures while somebody looks. Without this file all settings
 * are shown, the links can be selected, an address that is left empty is made when the study is, and the figures
 * come with the page.
 */
import { copy } from "../copying.js";

for (const part of document.querySelectorAll(".needs-script")) {
  part.hidden = false;
}

/* --- Settings that act only with others ----------------------------------------------------------------------- */

/* data-when: names of other fields, and the values of which one each is needed. What is wrong stays to be seen. */
for (const form of document.querySelectorAll("form:has([data-when])")) {
  const chosen = (name) => [...form.elements].filter((each) => each.name.replace(/_\d$/, "") === name);
  const show = () => {
    for (const setting of form.querySelectorAll("[data-when]")) {
      const field = setting.closest(".field");
      const acts = Object.entries(JSON.parse(setting.dataset.when)).every(
        ([name, values]) => chosen(name).length === 0 || chosen(name).some((each) => values.includes(each.value)),
      );
      field.hidden = !acts && !field.querySelector(".field-error");
    }
  };
  form.addEventListener("change", show);
  show();
}

/* --- Copying ----------------------------------------------------------------------------------------------- */

for (const button of document.querySelectorAll("[data-copy]:not([data-copy=''])")) {
  button.hidden = false;
  button.addEventListener("click", () =>
    copy(button, button.dataset.copy, () => button.previousElementSibling?.select?.(), "Selected"),
  );
}

for (const field of document.querySelectorAll("input.link-text")) {
  field.addEventListener("focus", () => field.select());
}

/* --- The address of a new study ---------------------------------------------------------------------------- */

/* As the server makes it of the name, as long as nobody has typed another. */
function addressOf(name, longest) {
  const letters = name.normalize("NFKD").replace(/[^\x00-\x7f]/g, "").toLowerCase();
  const joined = letters.replace(/[^\w\s-]/g, "").trim().replace(/[-\s]+/g, "-");
  return joined.slice(0, longest).replace(/^[-_]+|[-_]+$/g, "");
}

for (const address of document.querySelectorAll("[data-made-of]")) {
  const name = document.getElementById(address.dataset.madeOf);
  const propose = () => addressOf(name.value, address.maxLength);
  let isProposed = !address.value || address.value === propose();
  name.addEventListener("input", () => {
    if (isProposed) {
      address.value = propose();
    }
  });
  address.addEventListener("input", () => {
    isProposed = !address.value;
  });
}

/* --- What was typed ------------------------------------------------------------------------------------------ */

/* Leaving a form with something typed in it is asked about; saving it is not leaving. */
for (const form of document.querySelectorAll("form[data-keep]")) {
  let changed = form.dataset.keep === "unsaved" || form.querySelector(".field-error") !== null;
  form.addEventListener("input", () => {
    changed = true;
  });
  form.addEventListener("submit", () => {
    changed = false;
  });
  window.addEventListener("beforeunload", (event) => {
    if (changed) {
      event.preventDefault();
    }
  });
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

/* While the arena is down, what a page shows of it may be wrong. */
const silence = document.getElementById("no-answer");
if (silence) {
  document.addEventListener("htmx:afterRequest", (event) => {
    silence.hidden = event.detail.xhr.status !== 0;
  });
}
