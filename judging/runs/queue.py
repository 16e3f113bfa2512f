"""Messages to the workers, by the names of tasks: judging.tasks imports the services that send them."""

from collections.abc import Iterable

from arena.process.nudging import nudge

PLAN = "judging.tasks.plan_run"
CONVENE = "judging.tasks.convene_panel"


def nudge_plan(run: int) -> None:
    nudge(PLAN, [run])


def nudge_panels(panels: Iterable[int]) -> None:
    nudge(CONVENE, panels)
