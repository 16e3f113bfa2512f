"""Our own data as JSON Lines or a JSON list of objects; the fields tell what a file holds. Pure."""

from arena.formats import ours
from arena.formats.files import Form

FORMAT = ours.written_as(Form.JSON, "jsonl", "Likert Arena JSON Lines")
