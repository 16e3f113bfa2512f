from pathlib import Path

from django.contrib.staticfiles import finders
from django.core.management import call_command

from leaderboard.pages.staticfiles import PlotlyFinder


def test_only_the_one_file_is_found_and_no_copy_is_kept_in_the_repository(settings):
    found = finders.find("vendor/plotly/plotly.min.js")
    assert Path(found).stat().st_size > 1_000_000
    assert finders.find("vendor/plotly/widgetbundle.js") is None
    assert [path for path, _ in PlotlyFinder().list(None)] == ["plotly.min.js"]
    assert not list((settings.BASE_DIR / "static").rglob("plotly*"))


def test_collecting_puts_it_where_pages_look_for_it(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    call_command("collectstatic", interactive=False, verbosity=0)
    assert (tmp_path / "vendor/plotly/plotly.min.js").exists()
    assert not list(tmp_path.rglob("widgetbundle*"))
