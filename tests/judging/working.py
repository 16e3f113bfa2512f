"""What the threads of a worker do, done until nothing is due."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from django.utils import timezone

from judging.models import JudgeRun, RunAssignment
from judging.runs.claiming import Claim, _OutdatedError
from judging.runs.door import door as judging
from judging.runs.door import task_of
from judging.runs.heartbeat import this_worker
from judging.worker.worker import Door, Ended, Task, Worker


class _Inline(Executor):
    """Does everything at once, in the thread that asks for it."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*args, **kwargs))
        return done


class _Counted:
    """A door that counts the calls which are made."""

    def __init__(self, door: Door) -> None:
        self._door, self.count = door, 0

    def claim(self, free: int) -> Sequence[Task]:
        tasks = self._door.claim(free)
        self.count += len(tasks)
        return tasks

    def replied(self, ended: Sequence[Ended]) -> None:
        self._door.replied(ended)


def work_off(door: Door = judging, slots: int = 1) -> int:
    """Make all calls that are due, so many at a time; how many they were."""
    counted = _Counted(door)
    worker = Worker(counted, slots)
    if slots == 1:
        worker._pool = _Inline()
    worker.run(lambda: True)
    return counted.count


class _One:
    """The door to the calls about one assignment."""

    def __init__(self, assignment: int) -> None:
        self._assignment = assignment
        self._until = timezone.now()  # what is put off until later is not asked

    def claim(self, free: int) -> Sequence[Task]:
        due = RunAssignment.objects.filter(assignment=self._assignment, due_at__lte=self._until)
        runs = JudgeRun.objects.whole().filter(run_assignments__in=due)
        for run in runs.filter(state="running", remote=False, judge__rater__paused_at=None):
            return self._claimed(run, free) if free > 0 else []
        return []

    def _claimed(self, run: JudgeRun, free: int) -> Sequence[Task]:
        try:
            return [task_of(each) for each in Claim(run, this_worker(), self._assignment).claim(free)[0]]
        except _OutdatedError:
            return self._claimed(run, free)

    replied = staticmethod(judging.replied)


def judge_assignment(assignment: int, slots: int = 8) -> None:
    """Make the calls about an assignment that are due."""
    Worker(_One(assignment), slots).run(lambda: True)
