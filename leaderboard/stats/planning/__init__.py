"""How many more prompts tell two contestants apart."""
