"""From the rows of the database to the arrays the statistics take."""
