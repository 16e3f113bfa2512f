"""The pages of those who run a study: setting it up, looking after it, ending it."""
