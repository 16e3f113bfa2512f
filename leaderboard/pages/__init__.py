"""What all public pages of a study share."""
