/* Pages about raters: says what a switch changed and keeps open what was open. Without it, everything is a link. */
import "./figures.js";
import { keepOpen } from "./switching.js";

const said = document.createElement("p");
said.className = "visually-hidden";
said.setAttribute("role", "status");
document.body.append(said);

keepOpen("#main", (part) => {
  if (part.id !== "main") {
    return;
  }
  const chosen = [...document.querySelectorAll("#main .segmented [aria-current], #main .switch-form option:checked")];
  const kinds = document.querySelectorAll("#main input[name=with]:checked").length;
  const words = chosen.map((link) => link.textContent.trim());
  said.textContent = `Shown: ${[...words, ...(kinds ? [`${kinds} kinds of raters side by side`] : [])].join(", ")}`;
});
