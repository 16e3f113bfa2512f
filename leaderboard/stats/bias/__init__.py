"""How biased raters are: by position, by length, and by asking in another order."""
