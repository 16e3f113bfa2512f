"""The counts of a snapshot, made by hand, for tests of what reads them."""


def _raters(selector, label, comparisons, coding, other=0, points=(8,), simulated=False, same_as=None):
    """What is counted of a kind of raters; ``coding`` and ``other`` of its comparisons are of a category."""
    return {
        "selector": selector,
        "label": label,
        "comparisons": comparisons,
        "by_category": {"coding": coding, "a&b=c": other, "-odd": 0},
        "points": list(points),
        "simulated": simulated,
        "same_as": same_as,
    }


COUNTS = {
    "kinds": {"model": 3, "people": 1},
    "categories": ["coding", "a&b=c", "-odd"],
    "raters": [
        _raters("people", "People", 5, 2, 1),
        _raters("judge:x", "X", 7, 7, simulated=True),
        _raters("judge:three", "Three", 4, 4, points=(3,)),
        _raters("group:all", "All", 5, 2, 1, same_as="people"),
        _raters("group:mixed", "Mixed", 11, 11, points=(3, 8), same_as="group:all"),
    ],
}
