"""Elo: one pass over the games, and many passes over resamples of them."""
