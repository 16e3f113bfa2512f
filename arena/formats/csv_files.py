"""Our own data as CSV: the same fields as columns; lists and objects are JSON in their cell. Pure."""

from arena.formats import ours
from arena.formats.files import Form

FORMAT = ours.written_as(Form.CELLS, "csv", "Likert Arena CSV")
