/*
 * Figures of the public pages. A figure is fetched and drawn with Plotly, in the page's colours, when it comes near the
 * screen; Plotly itself is loaded for the first one. Without this file a page has its tables and its CSV files.
 */
const PLOTLY = document.body.dataset.plotly;
const NEAR = "500px";
const NARROW = 600;
const SMALLEST_IMAGE = 900; // a picture taken on a phone is for paper, too
const CONFIG = { displaylogo: false, displayModeBar: false, responsive: true };

let loading = null;

function plotly() {
  if (window.Plotly) {
    return Promise.resolve(window.Plotly);
  }
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = PLOTLY;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error("Plotly could not be loaded"));
    };
    document.head.append(script);
  });
  return loading;
}

/* --- Drawing ----------------------------------------------------------------------------------------------- */

/* Colours and the font are given as names of CSS variables; here they get their values. Other strings stay as they came. */
function themed(value, styles, key = "") {
  if (Array.isArray(value)) {
    return value.map((entry) => themed(entry, styles, key));
  }
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, themed(entry, styles, name)]));
  }
  const isColour = typeof value === "string" && value.startsWith("--") && /(color(scale)?|family)$/.test(key);
  return isColour ? styles.getPropertyValue(value).trim() : value;
}

/* A narrow place has shorter texts on its axes. Where there is room, the legend stands over what it explains. */
function fitted(figure, width) {
  const layout = { ...figure.layout };
  if (width < NARROW) {
    for (const [axis, shorter] of Object.entries(figure.narrow ?? {})) {
      layout[axis] = { ...layout[axis], ...shorter };
    }
  } else if (layout.legend) {
    layout.legend = { ...layout.legend, xref: "paper" };
  }
  return layout;
}

/* A matrix brings each name once; its cells need both names. */
function withCellTexts(trace) {
  const names = trace.meta?.names;
  const columns = trace.meta?.columns ?? names;
  return names
    ? { ...trace, hovertext: names.map((row) => columns.map((column) => `${row}<br>against ${column}`)) }
    : trace;
}

/* Running the script and drawing are tasks of their own, so that the page answers in between. */
let turn = Promise.resolve();

function inTurn(work) {
  const done = turn.then(() => new Promise((resolve) => setTimeout(resolve))).then(work);
  turn = done.catch(() => {});
  return done;
}

const figures = new WeakMap();

async function figureOf(place) {
  if (!figures.has(place)) {
    const answer = await fetch(place.dataset.figure, { headers: { Accept: "application/json" } });
    if (!answer.ok) {
      throw new Error(`${answer.status} for ${place.dataset.figure}`);
    }
    figures.set(place, await answer.json());
  }
  return figures.get(place);
}

async function draw(place) {
  try {
    const [figure, Plotly] = await Promise.all([figureOf(place), plotly()]);
    if (!place.isConnected) {
      return;
    }
    await inTurn(() => {
      const drawn = themed(figure, getComputedStyle(document.documentElement));
      place.querySelector(":scope > .plot-wait, :scope > .plot-error")?.remove();
      return Plotly.react(place, drawn.data.map(withCellTexts), fitted(drawn, place.clientWidth), CONFIG);
    });
    place.dataset.drawn = "true";
    countRows(place, figure);
  } catch {
    sayThatItFailed(place);
  }
}

function sayThatItFailed(place) {
  const message = document.createElement("div");
  message.className = "plot-error";
  message.setAttribute("role", "alert");
  const text = document.createElement("p");
  text.textContent = "The figure did not load. Its numbers are in the data table.";
  const again = document.createElement("button");
  again.type = "button";
  again.className = "button button-quiet button-small";
  again.textContent = "Try again";
  again.addEventListener("click", () => draw(place));
  message.append(text, again);
  place.replaceChildren(message);
}

/* --- When -------------------------------------------------------------------------------------------------- */

/* Who has only opened a page may never scroll: until then, figures below the screen wait. */
let near = observer("0px");

window.addEventListener(
  "scroll",
  () => {
    near.disconnect();
    near = observer(NEAR);
    watch();
  },
  { once: true, passive: true },
);

function observer(rootMargin) {
  return new IntersectionObserver(
    (entries, self) => {
      for (const { target } of entries.filter((each) => each.isIntersecting)) {
        self.unobserve(target);
        target.dataset.near = "true";
        draw(target);
      }
    },
    { rootMargin },
  );
}

function watch() {
  document.querySelectorAll(".plot[data-figure]:not([data-near])").forEach((place) => near.observe(place));
}

/* Parts of a page that htmx replaced bring figures of their own; those that leave let go of the window. */
document.addEventListener("htmx:afterSettle", () => watch());
document.addEventListener("htmx:beforeCleanupElement", (event) => {
  if (event.target instanceof Element && event.target.matches(".plot")) {
    near.unobserve(event.target);
    window.Plotly?.purge(event.target);
  }
});

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  document.querySelectorAll(".plot[data-drawn]").forEach(draw);
});

/* --- Folding: a tall figure shows its axis and its first rows ------------------------------------------------ */

const unfolds = (place) => document.querySelector(`.unfold[aria-controls="${place.id}"]`);

function countRows(place, figure) {
  const button = unfolds(place);
  if (button) {
    button.dataset.rows = figure.layout.yaxis.tickvals.length;
    label(button);
  }
}

function label(button) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.textContent = isOpen ? "Show fewer rows" : `Show all ${button.dataset.rows ?? ""} rows`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".unfold[aria-controls]");
  if (button) {
    button.setAttribute("aria-expanded", button.getAttribute("aria-expanded") !== "true");
    label(button);
  }
});

/* --- Images ------------------------------------------------------------------------------------------------ */

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-image]");
  const place = button && document.getElementById(button.dataset.of);
  if (!place) {
    return;
  }
  button.disabled = true;
  if (!place.dataset.drawn) {
    await draw(place);
  }
  if (place.dataset.drawn) {
    await window.Plotly.downloadImage(place, {
      format: button.dataset.image,
      filename: place.dataset.name,
      width: Math.max(place.clientWidth, SMALLEST_IMAGE),
      height: place.clientHeight,
      scale: button.dataset.image === "png" ? 2 : 1,
    });
  }
  button.disabled = false;
});

watch();
