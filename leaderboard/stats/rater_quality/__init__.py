"""How well each rater rates: agreement with others, consistency, accuracy, speed, sides, and outliers."""
