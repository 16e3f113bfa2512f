/* The leaderboard: finding a contestant while typing, and saying what a switch changed. Without it, everything is a link. */
(() => {
  "use strict";

  /* --- Finding ----------------------------------------------------------------------------------------------- */

  function find(field) {
    const words = field.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...document.querySelectorAll("#standings-table tbody tr")];
    for (const row of rows) {
      const text = [...row.querySelectorAll(".name, .word")].map((cell) => cell.textContent).join(" ").toLocaleLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById("standings-found").textContent = words.length ? `${shown} of ${rows.length} shown` : "";
  }

  document.addEventListener("input", (event) => {
    if (event.target.id === "standings-search") {
      find(event.target);
    }
  });

  /* --- Switching --------------------------------------------------------------------------------------------- */

  /* What was open stays open in the part that replaces it, and what had the focus in it has it again. */
  let open = [];
  let focused = "";

  document.addEventListener("htmx:beforeSwap", () => {
    open = [...document.querySelectorAll("#board details[open]")].map(nameOf);
    focused = document.activeElement?.closest("#board details") ? document.activeElement.id : "";
  });

  function nameOf(details) {
    return `${details.closest("[id]").id} ${details.querySelector("summary").textContent.split(":")[0]}`;
  }

  document.addEventListener("htmx:afterSettle", () => {
    for (const details of document.querySelectorAll("#board details:not([open])")) {
      details.open = open.includes(nameOf(details));
    }
    if (focused) {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
    open = [];
    focused = "";
    const caption = document.querySelector("#standings-part caption");
    const sentence = document.querySelector("#computing p, .verdict-sentence, .lead-first");
    const said = caption ? `Shown: ${caption.textContent}` : sentence ? sentence.textContent : "No numbers here.";
    document.getElementById("board-status").textContent = said;
  });

  /* A switch that htmx cannot follow is followed as the plain link it is. */
  for (const failure of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(failure, (event) => {
      if (event.detail.boosted || event.detail.requestConfig?.boosted || event.detail.elt?.matches?.(".switch-form")) {
        window.location.assign(event.detail.pathInfo.finalRequestPath);
      }
    });
  }
})();
