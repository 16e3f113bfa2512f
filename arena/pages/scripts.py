"""Scripts of pages: modules that import one another, in production under names with a digest."""

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Final

from django.contrib.staticfiles import finders
from whitenoise.storage import CompressedManifestStaticFilesStorage

_IMPORT: Final = r'(?m)^(?P<matched>import (?P<names>(?:[^"]* from )?)"(?P<url>\.\.?/[^"]+\.js)";)$'


class ModuleStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names files by their content, and puts these names into the imports between scripts.

    Django's own patterns for imports also find some in comments of libraries, which lead to no file.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("*.js", ((_IMPORT, 'import %(names)s"%(url)s";'),)),
    )
    max_post_process_passes = 10  # one for each import in a row, in the worst order


@cache
def imported_by(name: str) -> tuple[str, ...]:
    """Return every script that one needs, directly or through another, each once."""
    found = finders.find(name)
    source = Path(str(found)).read_text(encoding="utf-8") if found else ""
    folder = posixpath.dirname(name)
    own = [posixpath.normpath(posixpath.join(folder, each["url"])) for each in re.finditer(_IMPORT, source)]
    return tuple(dict.fromkeys(each for one in own for each in (one, *imported_by(one))))
