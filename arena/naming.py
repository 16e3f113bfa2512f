"""Writes: what becomes of the completions of a study that tell who wrote them."""

from arena import study_settings
from arena.models import Study
from arena.permissions import Visitor


def choose_naming(study: Study, naming: Study.Naming, by: Visitor) -> bool:
    """Show, mask or leave out from now on, and record who decided so; False where it is so already.

    No figure changes: what was rated stays rated, as it was shown then.
    """
    study.naming = naming
    return bool(study_settings.store(study, by, ["naming"]))
