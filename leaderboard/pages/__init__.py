"""The public pages of a study, one module each; ``shell`` holds what they share."""
