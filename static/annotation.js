/*
 * The rating screen: keys, dialogs and forms. The other annotation-*.js hold what they do; without scripts the page is
 * a plain form.
 */
(() => {
  "use strict";

  const task = () => document.getElementById("task");
  const press = (selector) => task().querySelector(selector)?.click();

  /* --- Dialogs ----------------------------------------------------------------------------------------------- */

  function openDialog(name) {
    document.getElementById(name)?.showModal();
  }

  function openFlag() {
    if (Answer.form() && !Screen.isBusy()) {
      const form = document.getElementById("flag-form");
      form.reset();
      form.elements.assignment.value = Screen.current();
      openDialog("flag");
    }
  }

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    if (opener.dataset.dialog === "flag") {
      openFlag();
    } else {
      openDialog(opener.dataset.dialog);
    }
  });

  /* --- Forms ------------------------------------------------------------------------------------------------- */

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const action = event.submitter?.name;
    if (form.id === "flag-form") {
      event.preventDefault();
      const said = form.querySelector("input:checked").closest("label").lastChild.textContent.trim();
      form.closest("dialog").close();
      Screen.flag([...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken"), said);
    } else if (form.id === "sitting-form") {
      Sitting.setGoal(Number(form.elements.goal.value) || 0);
      Screen.tellGoal();
    } else if (action === "undo") {
      event.preventDefault();
      Screen.undo(form.elements.reopen?.value || "");
    } else if (form === Answer.form()) {
      event.preventDefault();
      if (action === "skip") {
        Screen.skip();
      } else {
        Screen.rate();
      }
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-tie]")) {
      Answer.tie();
    } else if (event.target.closest("a[data-next]")) {
      event.preventDefault();
      Screen.goOn();
    }
  });

  /* --- Keys -------------------------------------------------------------------------------------------------- */

  function isTyping(target) {
    return target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
  }

  const KEYS = {
    s: () => press("button[name=skip]"),
    u: () => press("button[name=undo]"),
    f: openFlag,
    t: () => Answer.form() && Answer.tie(),
    c: () => Answer.form() && Answer.comment(),
    p: () => Answer.form() && View.foldPrompt(),
    o: () => Answer.form() && View.foldReference(),
    r: () => Answer.form() && View.toggle("raw"),
    y: () => press(".toggle-sync"),
    g: () => openDialog("guidelines"),
    "?": () => openDialog("help"),
  };

  function enter(event) {
    // A focused link, button or summary answers Enter itself.
    if (event.target.closest("a, button, summary")) {
      return;
    }
    event.preventDefault();
    if (Answer.form()) {
      Answer.submit();
    } else {
      press("a[data-next]");
    }
  }

  /* Out of a comment without the mouse: Ctrl+Enter submits, Escape goes back to the answers. */
  function inComment(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
      event.preventDefault();
      Answer.submit();
    } else if (event.key === "Escape" && !event.isComposing) {
      Answer.leaveComment();
    }
  }

  /* In the dialog of flags, numbers choose what is wrong. */
  function inFlag(event) {
    const reasons = document.querySelectorAll("#flag-form input[name=reason]");
    const reason = /^[1-9]$/.test(event.key) && !isTyping(event.target) && reasons[Number(event.key) - 1];
    if (reason) {
      reason.checked = true;
      reason.focus();
    }
  }

  /* Arrows and Space, but in a text that scrolls. */
  function moves(key, target) {
    if (target.closest("[role=region], a, button, summary")) {
      return false;
    }
    if (key === " " && Answer.isChecked()) {
      Answer.submit();
      return true;
    }
    return key.startsWith("arrow") && Answer.arrow(key);
  }

  function onPage(event) {
    const key = event.key.toLowerCase();
    const undo = key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (undo) {
      event.preventDefault();
      KEYS.u();
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (Answer.form() && (Answer.choose(key) || moves(key, event.target))) {
      event.preventDefault();
    } else if (key === "enter") {
      enter(event);
    } else if (Object.hasOwn(KEYS, key)) {
      event.preventDefault();
      KEYS[key]();
    } else if (Answer.form() && /^[a-z]$/.test(key) && Answer.reason(key)) {
      event.preventDefault();
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.repeat && !event.key.startsWith("Arrow"))) {
      return;
    }
    Screen.hideReveal();
    Answer.stopCounting();
    if (document.querySelector("#flag[open]")) {
      inFlag(event);
    } else if (document.querySelector("dialog[open]")) {
      return;
    } else if (event.target.id === "rationale") {
      inComment(event);
    } else if (event.target.matches(".score-field") && event.key === "Escape") {
      event.target.blur();
    } else if (!isTyping(event.target)) {
      onPage(event);
    }
  });

  document.addEventListener("pointerdown", () => Screen.hideReveal());

  Screen.begin();
})();
