"""Writes: judges, their runs, the calls they make, and recovery. Every door goes through here."""

from judging.services.calls import judge_assignment
from judging.services.judges import JudgeConfig, JudgeError, configure_judge, create_judge
from judging.services.recovery import abandon_orphans, sweep
from judging.services.runs import cancel_run, feed, go_on, pause_run, plan_run, resume_run, start_run
from judging.services.spending import change_budget, check_budget

__all__ = [
    "JudgeConfig",
    "JudgeError",
    "abandon_orphans",
    "cancel_run",
    "change_budget",
    "check_budget",
    "configure_judge",
    "create_judge",
    "feed",
    "go_on",
    "judge_assignment",
    "pause_run",
    "plan_run",
    "resume_run",
    "start_run",
    "sweep",
]
