"""FastChat's rating module, as published on PyPI (fschat 0.2.36)."""

import importlib
import importlib.util
import sys
from types import ModuleType


def rating_module() -> ModuleType:
    """The module, without the package of language models that it imports, which would need PyTorch."""
    if "fastchat.model" not in sys.modules:
        spec = importlib.util.find_spec("fastchat")
        assert spec
        assert spec.submodule_search_locations
        models = ModuleType("fastchat.model")
        models.__path__ = [f"{spec.submodule_search_locations[0]}/model"]
        sys.modules["fastchat.model"] = models
    return importlib.import_module("fastchat.serve.monitor.elo_analysis")
