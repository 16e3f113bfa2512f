/* The answer to the pair on screen: its questions, the reasons for it, and choosing that submits by itself. */
const Answer = (() => {
  "use strict";

  const OPTION = "arena-choosing-submits";
  const DELAY = 350; // milliseconds in which a choice that submits can be taken back
  let counting = null;

  const form = () => document.getElementById("answer");
  const rows = () => [...form().querySelectorAll("fieldset[data-row]")];
  const chosen = (row) => row.querySelector("input:checked");
  const activeRow = () => rows().find((row) => row.hasAttribute("data-active")) || rows()[0];

  function activate(row) {
    for (const each of rows()) {
      each.toggleAttribute("data-active", each === row && rows().length > 1);
    }
  }

  function caption(input) {
    return input ? input.closest("label").querySelector(".point-caption").textContent : "";
  }

  function tellChosen(row) {
    row.querySelector(".scale-chosen").textContent = caption(chosen(row));
    if (row === rows()[0]) {
      form().querySelector(".answer-chosen").textContent = caption(chosen(row));
    }
  }

  function changed(row) {
    tellChosen(row);
    activate(rows().find((each) => !chosen(each)) || row);
    Drafts.save(form());
  }

  document.addEventListener("change", (event) => {
    const row = event.target.closest?.("fieldset[data-row]");
    if (row) {
      changed(row);
    } else if (form()?.contains(event.target)) {
      Drafts.save(form());
    }
  });

  document.addEventListener("input", (event) => {
    if (event.target.id === "rationale") {
      Drafts.save(form());
    }
  });

  /* --- Choosing submits -------------------------------------------------------------------------------------- */

  const option = () => document.getElementById("choosing-submits");

  function submits() {
    return Boolean(option()?.checked) && rows().length === 1;
  }

  function stopCounting() {
    clearTimeout(counting);
    counting = null;
    form()?.classList.remove("is-counting");
  }

  function count() {
    stopCounting();
    if (!submits()) {
      return;
    }
    form().classList.add("is-counting");
    counting = setTimeout(() => {
      stopCounting();
      submit();
    }, DELAY);
  }

  function submit() {
    form().requestSubmit(form().querySelector(".answer-submit"));
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-comment]")) {
      Answer.comment();
    }
  });

  // A finger or a mouse chooses as a number does; arrows only move between the answers.
  document.addEventListener("click", (event) => {
    if (event.target.matches?.("#answer fieldset[data-row] input") && event.detail > 0) {
      count();
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target === option()) {
      Kept.turn(OPTION, option().checked);
    }
  });

  if (option()) {
    option().checked = Kept.isOn(OPTION);
  }

  return {
    form,
    submit,
    stopCounting,

    /* A pair has come to the screen. */
    start() {
      stopCounting();
      Clock.start(Drafts.restore(form()));
      rows().forEach(tellChosen);
      form().classList.toggle("is-commenting", form().elements.rationale.value !== "");
      activate(rows().find((row) => !chosen(row)) || rows()[0]);
    },

    choose(number) {
      const input = activeRow().querySelector(`input[value="${number}"]`);
      if (!input) {
        return;
      }
      stopCounting();
      input.checked = true;
      input.focus({ preventScroll: true });
      input.dispatchEvent(new Event("change", { bubbles: true }));
      count();
    },

    /* Choose or unchoose a reason by its letter; returns whether there is one. */
    reason(letter) {
      const box = chosen(rows()[0]) && form().querySelector(`.reason input[data-key="${letter}"]`);
      box?.click();
      return Boolean(box);
    },

    /* Both answers are the same text: choose the tie; where nothing else is asked, that is the answer. */
    tie() {
      const button = document.querySelector("#task [data-tie]");
      if (!button) {
        return false;
      }
      activate(rows()[0]);
      const input = rows()[0].querySelector(`input[value="${button.dataset.tie}"]`);
      input.checked = true;
      input.dispatchEvent(new Event("change", { bubbles: true }));
      if (rows().length === 1) {
        submit();
      } else {
        activeRow().querySelector("input").focus({ preventScroll: true });
      }
      return true;
    },

    comment() {
      form().classList.add("is-commenting");
      document.getElementById("rationale").focus();
    },

    /* Whether a choice could submit by itself, and does not yet. */
    canSubmit: () => Boolean(option() && !option().checked) && rows().length === 1,

    setSubmits(on) {
      option().checked = on;
      option().dispatchEvent(new Event("change", { bubbles: true }));
    },

    leaveComment() {
      (chosen(activeRow()) || document.getElementById("prompt-title")).focus({ preventScroll: true });
    },

    /* What is sent, as pairs of names and values. */
    fields() {
      form().elements.seconds.value = Clock.seconds();
      return [...new FormData(form())].filter(([name]) => name !== "csrfmiddlewaretoken");
    },

    said() {
      const comment = form().elements.rationale.value.trim();
      return caption(chosen(rows()[0])) + (comment ? `. Your comment: ${comment}` : "");
    },
  };
})();
