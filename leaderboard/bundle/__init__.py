"""Everything somebody needs to compute a published board again, in one archive, and the check of it."""
