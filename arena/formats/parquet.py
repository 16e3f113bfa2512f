"""Our own data as Parquet: the same fields as columns, each with its type. Pure."""

from arena.formats import ours
from arena.formats.files import Form

FORMAT = ours.written_as(Form.PARQUET, "parquet", "Likert Arena Parquet")
