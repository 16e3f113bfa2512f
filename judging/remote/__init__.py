"""A judge on a machine without database: it claims, asks and submits through the arena's API alone."""
