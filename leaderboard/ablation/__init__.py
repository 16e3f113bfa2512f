"""Judges side by side on the same pairs: what each protocol, scale or wording does to the answers."""
