import io
from typing import Any

from django.conf import settings
from django.core.management import call_command, get_commands
from django.utils.module_loading import import_string

from arena.demo.load import Demo, DemoError, Loaded, closed_demo, load_demo, open_demo
from arena.management.command import ArenaCommand


class Command(ArenaCommand):
    help = "Load the two demo studies with simulated ratings, unless they exist."
    refusals = (DemoError,)

    def handle(self, *args: Any, **options: Any) -> None:
        self._load(open_demo(), options)
        closed = self._load(closed_demo(), options)
        for path in settings.DEMO_ADDITIONS:
            import_string(path)()
        if closed.report and "release" in get_commands():
            slug, author, quiet = closed.study.slug, "Reed, Robin <invented author>", io.StringIO()
            call_command("refresh", slug, stdout=quiet)
            call_command("release", slug, version="1.0", author=[author], stdout=quiet)

    def _load(self, demo: Demo, options: dict[str, Any]) -> Loaded:
        loaded = load_demo(demo)
        if loaded.report is None:
            self._say(options, f'The study "{demo.slug}" exists already; nothing was changed.')
            return loaded
        added = {kind: counts.added for kind, counts in loaded.report.counts.items()}
        texts = f", {added['scores']} scores and {added['answers']} checks" if added["scores"] else ""
        self._say(
            options,
            f'Loaded the study "{demo.slug}": {added["prompts"]} prompts, {added["completions"]} answers, '
            f"and {added['comparisons']} simulated ratings of {added['pairs']} pairs{texts} by "
            f"{added['raters']} simulated raters.",
        )
        return loaded

    def _say(self, options: dict[str, Any], line: str) -> None:
        if options["verbosity"]:
            self.stdout.write(line)
