"""How often Bradley-Terry's and Davidson's intervals hold the truth, by simulation.

Seeds are fixed, so the numbers are the same every time (to the rounding of another machine).
"""

import pytest

from tests.leaderboard.stats.rated_studies import METHODS, Design, coverage

STUDIES = 300
ROUNDS = 500
KINDS = ("percentiles", "bootstrap", "sandwich", "t")
BOTH = "prompts-and-raters"

ONE_RATER = "one rater a prompt, no tastes"
SHARED = "4 raters a prompt, prompts 150 points"
TASTES = "20 prompts a rater, raters 100 points"
CROSSED = "all rate all, prompts 150, raters 100"
PART = "3 raters a prompt, prompts 150, raters 100"
PROMPTS_ALONE = "all rate all, prompts 150"
RATERS_ALONE = "all rate all, raters 100"
NO_TASTES = "all rate all, no tastes"
"""Where one of the two has no taste, drawing both counts what is left more than once."""

STUDIED = [
    *((ONE_RATER, "games", Design(prompts)) for prompts in (19, 100)),
    *((ONE_RATER, "prompts", Design(prompts)) for prompts in (10, 19, 30, 60, 100)),
    (SHARED, "games", Design(100, 4, 4, 150.0)),
    *((SHARED, "prompts", Design(prompts, 4, 4, 150.0)) for prompts in (19, 30, 60, 100)),
    (TASTES, "prompts", Design(200, 10, 1, 0.0, 100.0)),
    *((TASTES, "raters", Design(20 * raters, raters, 1, 0.0, 100.0)) for raters in (5, 10, 20, 30)),
    *((CROSSED, unit, Design(100, 10, 10, 150.0, 100.0)) for unit in ("prompts", "raters")),
    *((CROSSED, unit, Design(100, 30, 30, 150.0, 100.0)) for unit in ("prompts", "raters")),
    *((CROSSED, BOTH, Design(100, raters, raters, 150.0, 100.0)) for raters in (3, 4, 5, 7, 10, 15, 20, 30)),
    *((CROSSED, BOTH, Design(prompts, 10, 10, 150.0, 100.0)) for prompts in (10, 20, 30)),
    *((PART, BOTH, Design(100, raters, 3, 150.0, 100.0)) for raters in (10, 30)),
    (TASTES, BOTH, Design(200, 10, 1, 0.0, 100.0)),
    *((PROMPTS_ALONE, BOTH, Design(100, raters, raters, 150.0)) for raters in (5, 10, 30)),
    *((RATERS_ALONE, BOTH, Design(100, raters, raters, 0.0, 100.0)) for raters in (5, 10, 30)),
    *((NO_TASTES, BOTH, Design(100, raters, raters)) for raters in (5, 10, 30)),
]


def units(unit, design):
    """How many things a round draws (the fewer of two kinds), and all of it in words."""
    number = {"prompts": design.prompts, "raters": design.raters}.get(unit, 6 * design.prompts)
    if unit == BOTH:
        return min(design.prompts, design.raters), f"{design.prompts} prompts, {design.raters} raters"
    return number, f"{number} {unit}"


@pytest.mark.parametrize("method", METHODS)
def test_coverage(method):
    """Shares of 90 % and 95 % intervals in percent; percentiles are those of the bootstrap, not widened."""
    print(f"\n\n{method}: {STUDIES} studies each, {ROUNDS} rounds")
    columns = " | ".join(KINDS)
    print(f"| studies | resampled | 90 %: {columns} | 95 %: {columns} |\n|---|---{'|--:' * 8}|")
    for name, unit, design in STUDIED:
        found = coverage(design, unit, STUDIES, ROUNDS, method)
        shares = [found[kind, level] for level in (90.0, 95.0) for kind in KINDS]
        number, drawn = units(unit, design)
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        shown = f"{design.raters} raters: {name}" if name == CROSSED else name
        print(f"| {shown} | {drawn} | {cells} |", flush=True)
        one_of_two = name == CROSSED and unit != BOTH
        if one_of_two or (name, unit) in ((SHARED, "games"), (TASTES, "prompts")):
            assert found["percentiles", 95.0] < 0.93
        elif name == NO_TASTES:
            assert found["percentiles", 95.0] > 0.97
        else:
            assert 0.92 < found["t", 95.0] < 0.985
            assert number < 30 or 0.91 < found["percentiles", 95.0] < 0.99
            assert found["bootstrap", 95.0] > 0.915
