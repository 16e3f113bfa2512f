"""The ordinal model: Bradley-Terry on every step of the scale, adjusted for position, style and raters."""
