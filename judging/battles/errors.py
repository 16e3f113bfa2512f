class BattleError(Exception):
    """A battle cannot begin, go on or be voted on; ``field``: of the form, "" if about none."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
