"""An arena with one view more, which does nothing: what pages are measured by."""
