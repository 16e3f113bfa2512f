/* The time for which a pair was on a visible screen. */
let seen = 0; // milliseconds
let since = null;

function watch(running) {
  if (since !== null) {
    seen += performance.now() - since;
  }
  since = running ? performance.now() : null;
}

document.addEventListener("visibilitychange", () => watch(!document.hidden));

/* Begin anew, from the seconds that were seen before a reload. */
export function start(seconds = 0) {
  since = null;
  seen = 1000 * seconds;
  watch(!document.hidden);
}

export function seconds() {
  watch(!document.hidden);
  return (seen / 1000).toFixed(1);
}
