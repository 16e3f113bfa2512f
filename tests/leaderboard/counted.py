"""The counts of a snapshot, made by hand, for tests of what reads them."""

COUNTS = {
    "kinds": {"model": 3, "people": 1},
    "categories": ["coding", "a&b=c", "-odd"],
    "raters": [
        {
            "selector": "people",
            "label": "People",
            "comparisons": 5,
            "by_category": {"coding": 2, "a&b=c": 1, "-odd": 0},
            "points": [8],
            "simulated": False,
            "same_as": None,
        },
        {
            "selector": "judge:x",
            "label": "X",
            "comparisons": 7,
            "by_category": {"coding": 7, "a&b=c": 0, "-odd": 0},
            "points": [8],
            "simulated": True,
            "same_as": None,
        },
        {
            "selector": "judge:three",
            "label": "Three",
            "comparisons": 4,
            "by_category": {"coding": 4, "a&b=c": 0, "-odd": 0},
            "points": [3],
            "simulated": False,
            "same_as": None,
        },
        {
            "selector": "group:all",
            "label": "All",
            "comparisons": 5,
            "by_category": {"coding": 2, "a&b=c": 1, "-odd": 0},
            "points": [8],
            "simulated": False,
            "same_as": "people",
        },
        {
            "selector": "group:mixed",
            "label": "Mixed",
            "comparisons": 11,
            "by_category": {"coding": 11, "a&b=c": 0, "-odd": 0},
            "points": [3, 8],
            "simulated": False,
            "same_as": "group:all",
        },
    ],
}
