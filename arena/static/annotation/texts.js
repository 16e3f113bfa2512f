/* What a script adds to texts: code can be copied, and what only a script can do is shown. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) {
    return;
  }
  const text = button.parentElement.querySelector("pre, code")?.textContent || "";
  try {
    await navigator.clipboard.writeText(text);
    document.getElementById("announcer").textContent = "Copied.";
  } catch {
    document.getElementById("announcer").textContent = "This browser does not let the page copy.";
  }
});

/* What only a script can do is shown; called before a text comes to the screen, so that nothing moves there. */
export function prepare(node) {
  for (const hidden of node.querySelectorAll(".needs-script")) {
    hidden.hidden = false;
  }
}
