"""One board: the setting an address asks for, switches to others, and the tables of a snapshot together."""
