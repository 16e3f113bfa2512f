"""Scripts that import one another, in production."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.template import Context, Template

from arena.pages.scripts import ModuleStorage, imported_by

STATIC = Path(settings.BASE_DIR) / "arena" / "static"
SCRIPTS = sorted(str(path.relative_to(STATIC)) for path in STATIC.rglob("*.js") if "vendor" not in path.parts)
IMPORT = re.compile(r'^import .*?"(.+)";$', re.MULTILINE)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The scripts as they are served in production, by their names here."""
    folder = tmp_path_factory.mktemp("static")
    source, storage = FileSystemStorage(STATIC), ModuleStorage(location=folder)
    for name in SCRIPTS:
        storage.save(name, source.open(name))
    made = storage.post_process({name: (source, name) for name in SCRIPTS})
    return {name: folder / str(hashed) for name, hashed, _ in made if not str(hashed).endswith(".gz")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_imports_lead_to_the_scripts_under_the_names_they_have_in_production(
    name: str, collected: dict[str, Path]
) -> None:
    script = collected[name]
    assert re.fullmatch(r"\w+\.[0-9a-f]{12}\.js", script.name)
    found = [(script.parent / each).resolve() for each in IMPORT.findall(script.read_text())]
    wanted = [(STATIC / name).parent / each for each in IMPORT.findall((STATIC / name).read_text())]
    assert found == [collected[str(each.resolve().relative_to(STATIC))] for each in wanted]


def test_a_page_names_all_that_its_script_imports() -> None:
    assert imported_by("annotation/kept.js") == ()
    assert {*imported_by("annotation/sitting.js")} == {
        *(f"annotation/{name}.js" for name in ("answer", "clock", "drafts", "kept", "server"))
    }
    page = Template('{% script "uploads/import.js" %}').render(Context())
    assert page == (
        '<link rel="modulepreload" href="/static/operating/operate.js">'
        '<link rel="modulepreload" href="/static/copying.js">'
        '<script type="module" src="/static/uploads/import.js"></script>'
    )


def test_pages_name_scripts_that_there_are() -> None:
    templates = (Path(settings.BASE_DIR) / "arena" / "templates").rglob("*.html")
    named = {name for path in templates for name in re.findall(r'{% script "(.+?)" %}', path.read_text())}
    imported = {each for name in named for each in imported_by(name)}
    assert named | imported == {*SCRIPTS}
