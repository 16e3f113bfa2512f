"""Our own data as Parquet: the same fields as columns, each with its type. Pure."""

from arena.data.formats import ours
from arena.data.formats.files import Form

FORMAT = ours.written_as(Form.PARQUET, "parquet", "Likert Arena Parquet")
