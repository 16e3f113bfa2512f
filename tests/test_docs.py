"""Documentation that lags behind the code fails the build."""

import ast
import re
from pathlib import Path

from django.conf import settings

from arena.process.environment import OIDC_SETTINGS

ROOT = Path(__file__).parents[1]
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text()


def variables_read(path: Path) -> set[str]:
    """Names of the environment variables a module reads through environs or os.environ."""
    text = path.read_text()
    if "env." not in text and "environ" not in text:
        return set()
    return {
        node.args[0].value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) in {"env", "os.environ"}
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    } - {"DJANGO_SETTINGS_MODULE"}


def variables_documented(page: str) -> set[str]:
    """Names in the first column of the tables of a page."""
    return set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))


def test_the_settings_page_lists_exactly_what_is_read() -> None:
    of_the_arena, of_the_tests = SETTINGS_PAGE.split("\n## Tests\n")
    of_providers = {f"OIDC_{name.upper()}" for name in OIDC_SETTINGS}
    read = variables_read(ROOT / "arena" / "settings.py") | of_providers
    assert variables_documented(of_the_arena) == read
    files = ("conftest.py", "chromium.py", "run.py", "services/servers.py")
    sources = [ROOT / "tests" / name for name in files]
    read = set().union(*(variables_read(source) for source in sources))
    assert variables_documented(of_the_tests) == read - {"BROKER_URL"} | {"PYTHON"}


def test_only_the_settings_read_the_environment() -> None:
    """Elsewhere only before Django is there, or under a name that a judge gives."""
    readers = {
        str(path.relative_to(ROOT))
        for app in ("arena", "judging", "leaderboard")
        for path in (ROOT / app).rglob("*.py")
        if variables_read(path)
    }
    assert readers <= {"arena/settings.py", "arena/process/bootstrap.py"}


def test_production_requirements_are_marked() -> None:
    required = re.findall(r"^\| `([A-Z_]+)` .*\| required[^|]*\|$", SETTINGS_PAGE, re.MULTILINE)
    call = re.search(r"require_in_production\((.*?)\)", (ROOT / "arena" / "settings.py").read_text())
    assert call is not None
    assert set(required) == set(re.findall(r'"(\w+)"', call[1]))


def test_the_changelog_knows_this_version() -> None:
    assert f"## {settings.VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_make_target_is_in_contributing_or_readme() -> None:
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    assert [target for target in targets if f"make {target}" not in text] == []


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def test_links_between_documents_lead_somewhere() -> None:
    headings = {page.resolve(): anchors(page) for page in documents()}
    for page in documents():
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            there = (page.parent / target).resolve() if target else page.resolve()
            assert there.exists(), f"{page} links to {target}"
            assert not anchor or anchor in headings.get(there, ()), f"{page} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The names of a document's headings in addresses."""
    named = re.findall(r"^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in named}


def test_every_module_of_the_layout_is_described() -> None:
    """Folders of the three apps are named in docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    for app in ("arena", "judging", "leaderboard"):
        for folder in (ROOT / app).iterdir():
            if (folder / "__init__.py").exists() and folder.name != "migrations":
                assert f"{folder.name}/" in text, f"{app}/{folder.name} is not in docs/architecture.md"


def test_code_that_documents_name_is_there() -> None:
    """Paths of files, and modules that a command runs; NAME stands for any."""
    for page in documents():
        text = page.read_text()
        paths = re.findall(r"(?<![\w/.])((?:arena|judging|leaderboard|tests)/[\w/]+\.py)", text)
        modules = re.findall(r"-m ((?:arena|tests)(?:\.\w+)+)", text)
        named = [*paths, *(f"{module.replace('.', '/')}.py" for module in modules)]
        missing = [path for path in named if "NAME" not in path and not exists(path)]
        assert missing == [], f"{page} names what is not there"


def exists(path: str) -> bool:
    return (ROOT / path).exists() or (ROOT / path.removesuffix(".py") / "__main__.py").exists()
