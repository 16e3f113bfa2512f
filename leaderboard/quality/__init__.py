"""How well people rate: the numbers of each rater, the pages about them, and what raters disagree about."""
