"""What raters are told before they rate and beside it: guidelines, the scale in words, worked examples."""

from arena.annotation import lesson, task
from arena.models import Membership
from arena.rendering_cache import rendered


def guidance(membership: Membership) -> dict[str, object]:
    """The context of _guidelines.html for a member of a study."""
    study = membership.study
    text = study.guidelines.strip()
    return {
        "study": study,
        "guidelines": rendered([text])[text] if text else "",
        "scale": task.scale_in_words(study),
        "examples": lesson.examples(membership),
    }
