/* The leaderboard: finding a contestant while typing, and saying what a switch changed. Without it, everything is a link. */
import "./figures.js";
import { keepOpen } from "./switching.js";

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

keepOpen("#board", () => {
  const caption = document.querySelector("#standings-part caption");
  const sentence = document.querySelector("#computing p, .verdict-sentence, .lead-first");
  const said = caption ? `Shown: ${caption.textContent}` : sentence ? sentence.textContent : "No numbers here.";
  document.getElementById("board-status").textContent = said;
});
