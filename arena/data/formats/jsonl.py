"""Our own data as JSON Lines or a JSON list of objects; the fields tell what a file holds. Pure."""

from arena.data.formats import ours
from arena.data.formats.files import Form

FORMAT = ours.written_as(Form.JSON, "jsonl", "Likert Arena JSON Lines")
