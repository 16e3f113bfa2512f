"""How often human-anchored intervals hold the truth, and a judge's own do not; run by ``make bench``."""

import pytest

from tests.leaderboard.stats.anchored_studies import JUDGES, Design, Outcome, coverage

STUDIES = 1000
DESIGNS = {
    "15 prompts by people, 1000 by the judge": Design(15),
    "30 prompts by people, 1000 by the judge": Design(30),
    "60 prompts by people, 1000 by the judge": Design(60),
    "100 prompts by people, 1000 by the judge": Design(100),
    "300 prompts by people, 1000 by the judge": Design(300),
    "100 by people, 1000 by the judge, 2 of 10 pairs each": Design(100, pairs=2),
    "200 by both, 2 of 10 pairs each by people": Design(200, judged=200, rated_pairs=2),
}
HEADER = ("judge", "anchored", "farthest", "people", "judge", "width", "worth", "gain", "power")


def row(name: str, found: Outcome) -> str:
    shares = (found.anchored, found.worst, found.human, found.judge)
    numbers = (
        *(f"{100 * share:.1f}" for share in shares),
        *(f"{x:.2f}" for x in (found.width, found.worth, found.gain, found.power)),
    )
    return " | ".join((f"{name:32}", *(f"{number:>8}" for number in numbers)))


@pytest.mark.parametrize("name", DESIGNS)
def test_coverage(name: str) -> None:
    """Shares of 95 % intervals in percent, for each judge; seeds are fixed, so the numbers are too."""
    design = DESIGNS[name]
    lowest, highest = (0.93, 0.97) if design.rated >= 100 else (0.92, 0.98)
    print(f"\n\n{name}: {STUDIES} studies of 5 contestants\n")
    print(" | ".join((f"{HEADER[0]:32}", *(f"{title:>8}" for title in HEADER[1:]))))
    for judge, errs in JUDGES.items():
        found = coverage(errs, design, STUDIES)
        print(row(judge, found), flush=True)
        assert lowest < found.anchored < highest
        assert lowest < found.human < highest
        assert found.judge < 0.93
        assert found.width < 1.02
