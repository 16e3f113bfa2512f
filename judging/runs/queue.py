"""Messages to the workers, by the names of tasks: judging.tasks imports the services that send them."""

from collections.abc import Iterable

from arena.process.nudging import nudge

JUDGE = "judging.tasks.judge_assignment"
FEED = "judging.tasks.feed_run"
PLAN = "judging.tasks.plan_run"
CONVENE = "judging.tasks.convene_panel"
PROPOSE = "judging.tasks.propose"
WRITE = "judging.tasks.write"


def nudge_assignments(assignments: Iterable[int]) -> None:
    nudge(JUDGE, assignments)


def nudge_plan(run: int) -> None:
    nudge(PLAN, [run])


def nudge_panels(panels: Iterable[int]) -> None:
    nudge(CONVENE, panels)


def nudge_feed(run: int, seconds: float) -> None:
    nudge(FEED, [run], seconds)


def nudge_proposals(threads: int) -> None:
    nudge(PROPOSE, range(threads))


def nudge_writing(threads: int) -> None:
    nudge(WRITE, range(threads))
