"""Language models that can be asked to judge."""
