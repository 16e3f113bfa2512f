"""How often Bradley-Terry's and Davidson's intervals hold the truth, by simulation; run by ``make bench``.

Seeds are fixed, so the numbers are the same every time (to the rounding of another machine).
"""

import pytest

from tests.leaderboard.stats.rated_studies import METHODS, Design, coverage, crossed_coverage

STUDIES = 300
ROUNDS = 500
KINDS = ("bootstrap", "sandwich", "t")

ONE_RATER = "one rater a prompt, no tastes"
SHARED = "4 raters a prompt, prompts 150 points"
TASTES = "20 prompts a rater, raters 100 points"
CROSSED = "all rate all, prompts 150, raters 100"

STUDIED = [
    *((ONE_RATER, "games", Design(prompts)) for prompts in (19, 100)),
    *((ONE_RATER, "prompts", Design(prompts)) for prompts in (10, 19, 30, 60, 100)),
    (SHARED, "games", Design(100, 4, 4, 150.0)),
    *((SHARED, "prompts", Design(prompts, 4, 4, 150.0)) for prompts in (19, 30, 60, 100)),
    (TASTES, "prompts", Design(200, 10, 1, 0.0, 100.0)),
    *((TASTES, "raters", Design(20 * raters, raters, 1, 0.0, 100.0)) for raters in (5, 10, 20, 30)),
    *((CROSSED, unit, Design(100, 10, 10, 150.0, 100.0)) for unit in ("prompts", "raters")),
    *((CROSSED, unit, Design(100, 30, 30, 150.0, 100.0)) for unit in ("prompts", "raters")),
]


def units(unit: str, design: Design) -> int:
    return {"prompts": design.prompts, "raters": design.raters}.get(unit, 6 * design.prompts)


@pytest.mark.parametrize("method", METHODS)
def test_coverage(method: str) -> None:
    """Shares of 90 % and 95 % intervals in percent: percentile bootstrap, sandwich, sandwich with t."""
    print(f"\n\n{method}: {STUDIES} studies each, {ROUNDS} rounds")
    print(
        "| studies | resampled | 90 %: bootstrap | sandwich | with t | 95 %: bootstrap | sandwich | with t |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for name, unit, design in STUDIED:
        found = coverage(design, unit, STUDIES, ROUNDS, method)
        shares = [found[kind, level] for level in (90.0, 95.0) for kind in KINDS]
        number = units(unit, design)
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        shown = f"{design.raters} raters: {name}" if name == CROSSED else name
        print(f"| {shown} | {number} {unit} | {cells} |", flush=True)
        too_narrow = name == CROSSED or (name, unit) in ((SHARED, "games"), (TASTES, "prompts"))
        if too_narrow:
            assert found["bootstrap", 95.0] < 0.93
        else:
            assert 0.92 < found["t", 95.0] < 0.985
            assert number < 30 or 0.91 < found["bootstrap", 95.0] < 0.98


@pytest.mark.parametrize("method", METHODS)
def test_coverage_of_crossed_clusters(method: str) -> None:
    """The same shares where all raters rate all prompts and the sandwich takes both for clusters."""
    print(f"\n\n{method}, {CROSSED}, 100 prompts, both clustered: {STUDIES} studies each")
    print("| raters | 90 %: sandwich | with t | 95 %: sandwich | with t |")
    print("|--:|--:|--:|--:|--:|")
    for raters in (5, 10, 20, 30):
        found = crossed_coverage(Design(100, raters, raters, 150.0, 100.0), STUDIES, method)
        shares = [found[kind, level] for level in (90.0, 95.0) for kind in ("sandwich", "t")]
        print(f"| {raters} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |", flush=True)
        assert 0.92 < found["t", 95.0] < 0.985
