/* Buttons that copy a text and say for a moment what became of it. */
const MOMENT = 2500; // milliseconds

/* Without the right to the clipboard, as on a page without HTTPS, `mark` marks the text: Ctrl+C then copies it. */
export async function copy(button, text, mark, marked, tell = () => {}) {
  const label = button.textContent;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    mark();
    said = marked;
  }
  button.textContent = said;
  tell(said);
  setTimeout(() => {
    button.textContent = label;
    tell("");
  }, MOMENT);
}
