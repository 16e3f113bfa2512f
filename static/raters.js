/* Pages about raters: says what a switch changed and keeps open what was open. Without it, everything is a link. */
(() => {
  "use strict";

  const said = document.createElement("p");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  document.body.append(said);

  const nameOf = (details) => `${details.closest("[id]").id} ${details.querySelector("summary").textContent}`;
  let open = [];

  document.addEventListener("htmx:beforeSwap", () => {
    open = [...document.querySelectorAll("#main details[open]")].map(nameOf);
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "main") {
      return;
    }
    for (const details of document.querySelectorAll("#main details:not([open])")) {
      details.open = open.includes(nameOf(details));
    }
    open = [];
    const chosen = [...document.querySelectorAll("#main .segmented [aria-current], #main .switch-form option:checked")];
    const kinds = document.querySelectorAll("#main input[name=with]:checked").length;
    const words = chosen.map((link) => link.textContent.trim());
    said.textContent = `Shown: ${[...words, ...(kinds ? [`${kinds} kinds of raters side by side`] : [])].join(", ")}`;
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
