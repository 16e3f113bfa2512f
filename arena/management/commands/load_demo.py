from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.demo.load import DemoError, load_demo


class Command(BaseCommand):
    help = "Loads the demo study with its simulated votes; where it exists already, changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            demo = load_demo()
        except DemoError as error:
            raise CommandError(f"The demo study cannot be loaded: {error}.") from error
        if demo.report is None:
            self._say(options, f'The study "{demo.study.slug}" exists already; nothing was changed.')
            return
        added = {kind: counts.added for kind, counts in demo.report.counts.items()}
        self._say(
            options,
            f"Loaded the demo study: {added['prompts']} prompts, {added['contestants']} contestants, "
            f"{added['completions']} completions, and {added['comparisons']} simulated comparisons of "
            f"{added['pairs']} pairs by {added['raters']} simulated raters.",
        )

    def _say(self, options: dict[str, Any], line: str) -> None:
        if options["verbosity"]:
            self.stdout.write(line)
