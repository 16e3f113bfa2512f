/* Switches that replace a part of a page: what was open stays open, and what had the focus in it has it again. */
const nameOf = (details) => `${details.closest("[id]").id} ${details.querySelector("summary").textContent.split(":")[0]}`;

/* `place`: a selector of the part; `tell` says what it shows now. */
export function keepOpen(place, tell) {
  let open = [];
  let focused = "";

  document.addEventListener("htmx:beforeSwap", () => {
    open = [...document.querySelectorAll(`${place} details[open]`)].map(nameOf);
    focused = document.activeElement?.closest(`${place} details`) ? document.activeElement.id : "";
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    for (const details of document.querySelectorAll(`${place} details:not([open])`)) {
      details.open = open.includes(nameOf(details));
    }
    if (focused) {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
    open = [];
    focused = "";
    tell(event.target);
  });
}

/* A switch that htmx cannot follow is followed as the plain link it is. */
for (const failure of ["htmx:responseError", "htmx:sendError"]) {
  document.addEventListener(failure, (event) => {
    if (event.detail.boosted || event.detail.requestConfig?.boosted || event.detail.elt?.matches?.(".switch-form")) {
      window.location.assign(event.detail.pathInfo.finalRequestPath);
    }
  });
}
