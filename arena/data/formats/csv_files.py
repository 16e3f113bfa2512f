"""Our own data as CSV: the same fields as columns; lists and objects are JSON in their cell. Pure."""

from arena.data.formats import ours
from arena.data.formats.files import Form

FORMAT = ours.written_as(Form.CELLS, "csv", "Likert Arena CSV")
