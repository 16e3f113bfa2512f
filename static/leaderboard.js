/* Draws the figures of a board with Plotly, in the page's colours. The data stand in script elements of the page. */
(() => {
  "use strict";

  const CONFIG = {
    displaylogo: false,
    responsive: true,
    // Without a mouse the buttons would always be there, on top of the legend; the tables have downloads of their own.
    displayModeBar: window.matchMedia("(hover: none)").matches ? false : "hover",
    modeBarButtonsToRemove: [
      "zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d",
    ],
  };

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

  /* A matrix brings each name once; its cells need both names. */
  function withCellTexts(trace) {
    const names = trace.meta?.names;
    return names
      ? { ...trace, hovertext: names.map((row) => names.map((column) => `${row}<br>against ${column}`)) }
      : trace;
  }

  function imageButton(place) {
    return {
      name: "svg",
      title: "Download as SVG",
      icon: window.Plotly.Icons.disk,
      click: (plot) => window.Plotly.downloadImage(plot, { format: "svg", filename: place.dataset.name }),
    };
  }

  async function draw(place) {
    const source = document.getElementById(`${place.id}-data`);
    const styles = getComputedStyle(document.documentElement);
    const figure = themed(JSON.parse(source.textContent), styles);
    const config = {
      ...CONFIG,
      modeBarButtonsToAdd: [imageButton(place)],
      toImageButtonOptions: { format: "png", scale: 2, filename: place.dataset.name },
    };
    await window.Plotly.react(place, figure.data.map(withCellTexts), figure.layout, config);
    place.dataset.drawn = "true";
  }

  const places = [...document.querySelectorAll(".plot")];
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        seen.unobserve(entry.target);
        draw(entry.target);
      }
    },
    { rootMargin: "600px" },
  );
  places.forEach((place) => seen.observe(place));

  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    places.filter((place) => place.dataset.drawn).forEach(draw);
  });
})();
