"""System checks: operator mistakes reported at start, each with an id."""
