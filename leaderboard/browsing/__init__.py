"""The comparison browser: which pairs were rated how, found fast, and what was said about each.

``index`` holds the answers of a study as small arrays, made with each snapshot; ``search`` finds pairs in it;
``stored`` keeps it in the database and in memory; ``pairs`` reads the texts and answers that a page shows;
``filters`` are the questions an address can ask.
"""
