"""The read-only part of the API that is about numbers: standings, and everything else a snapshot holds."""
