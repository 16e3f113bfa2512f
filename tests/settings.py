"""The arena's own settings, with a private folder and what makes tests fast. Used by pytest alone."""

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

gc.disable()  # until the tests are loaded: nearly all of that stays

_folder = tempfile.mkdtemp(prefix="arena-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["VAR_DIR"] = _folder
(Path(_folder) / "static").mkdir()  # WhiteNoise warns where there is none
os.environ["ARENA_ENV"] = "local"

import axe_playwright_python  # noqa: E402

from arena.settings import *  # noqa: E402, F403
from arena.settings import DATABASES, STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each request of a test renders its page, with the context that tests look at.
PAGE_CACHE_MB = 0
STATICFILES_DIRS = list(axe_playwright_python.__path__)  # tests in a browser load it as a script
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, as in a real arena: a database in memory has other rules about who waits for whom.
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_folder) / "test.sqlite3")}
