"""What goes wrong with an export."""


class ExportError(Exception):
    """What was asked for cannot be exported; the message is a sentence for the operator."""
