/* Categories are checked with digits, as errors of judges are tagged. Without scripts all works by mouse and Tab. */
import "../leaderboard/wrong_pairs.js";
import "../operating/operate.js";
