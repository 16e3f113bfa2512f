/* The time for which a pair was on a visible screen. */
const Clock = (() => {
  "use strict";

  let seen = 0; // milliseconds
  let since = null;

  function watch(running) {
    if (since !== null) {
      seen += performance.now() - since;
    }
    since = running ? performance.now() : null;
  }

  document.addEventListener("visibilitychange", () => watch(!document.hidden));

  return {
    /* Begin anew, from the seconds that were seen before a reload. */
    start(seconds = 0) {
      since = null;
      seen = 1000 * seconds;
      watch(!document.hidden);
    },

    seconds() {
      watch(!document.hidden);
      return (seen / 1000).toFixed(1);
    },
  };
})();
