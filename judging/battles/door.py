"""Asking the models of battles: their answers are stored while they come, and released at one pace.

The threads that ask only hand on pieces. One thread of each process, the flusher, stores those of all answers
in one transaction, says that they still come, and brings their battles up to that.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.process.busy import trouble
from arena.texts.dialogue import Message
from judging.battles import advancing, moderation, starting
from judging.battles.advancing import FLAGGED, GOING, NAMED, PROMPT
from judging.battles.locking import locked_battles, locked_calls
from judging.battles.moderation import Found
from judging.battles.streams import Stream, Streams
from judging.endpoints.client import NoReplyError, Reply, StreamingClient
from judging.endpoints.simulated_author import SimulatedAuthor
from judging.endpoints.streaming import StoppedError
from judging.judges.asked import GRACE, AskedModel
from judging.models import Battle, BattleCall, BattleRules
from judging.models.limits import FULL, Outage
from judging.requests.services import BUDGET, Requests, State, refuse
from judging.worker.worker import Ended, Task, lend_connection
from judging.writing.services import NO_ANSWER, why_no_answer

logger = logging.getLogger(__name__)

EVERY: Final = 0.4  # seconds between two times at which pieces are stored
PATIENCE: Final = 20.0  # seconds that a battle waits for an endpoint that is down
MOST_KNOWN: Final = 1000  # prompts that were looked at
STOPPED: Final = "stopped"
ENDED: Final = "The battle has ended."
CUT: Final = "It was cut off after it was seen."


class _Battles(Requests[BattleCall]):
    rows = BattleCall
    endpoint = "author__endpoint"
    needed = (
        *("author__endpoint", "author__contestant", "battle__study__battle_rules__moderation_endpoint"),
        "battle__study__battle_rules__moderation_judge__endpoint",
    )
    about = "answer of a battle"

    def __init__(self) -> None:
        self._streams = Streams()
        self._flusher = _Flusher(self.flush)
        self._prompts = _Looks()

    def asked(self, row: BattleCall) -> AskedModel:
        return starting.asked(row.battle.study.battle_rules, row.author)

    def messages(self, row: BattleCall) -> list[Message]:
        return starting.messages_of(row.battle, row.side)

    def alike(self, row: BattleCall) -> QuerySet[BattleCall]:
        return BattleCall.objects.filter(author=row.author)

    def why_not(self, row: BattleCall) -> str:
        battle = row.battle
        is_wanted = battle.state in GOING and row.is_current and row.turn == battle.turn
        if not is_wanted or row.ends_early:
            return ENDED
        return CUT if row.attempt and battle.begun_at else ""

    def lease(self, row: BattleCall, model: AskedModel) -> timedelta:
        # Prompt and answer are looked at meanwhile. Else a slow look would be asked for once more.
        return model.lease + 2 * moderation.longest(row.battle.study.battle_rules)

    def note(self, row: BattleCall, model: AskedModel, messages: list[Message]) -> None:
        super().note(row, model, messages)
        row.text = row.shown = ""  # of an attempt before, which nobody has seen
        row.begun_at = None

    def words(self, row: BattleCall, error: NoReplyError) -> str:
        # An endpoint may repeat what it was sent.
        return "" if _is_removed(row) else super().words(row, error)

    def put_off(self, row: BattleCall, seconds: float) -> None:
        if seconds > PATIENCE:
            refuse(row, "The endpoint does not answer.", "outage")
        elif seconds > FULL:  # else the first that waits is the next one
            super().put_off(row, seconds)

    def _fails_alike(self, row: BattleCall, kind: str) -> bool:
        # Prompts that are stopped, and a budget, say nothing about the model.
        return kind not in (PROMPT, BUDGET) and super()._fails_alike(row, kind)

    def next_try(self, row: BattleCall, error: NoReplyError, outage: Outage | None) -> datetime | None:
        # Another model is drawn sooner than this one answers; only who asks to wait is asked again.
        return super().next_try(row, error, outage) if error.kind == "rate_limited" else None

    def claim(self, free: int) -> list[Task]:
        tasks = super().claim(free)
        if failed := advancing.failed():
            advancing.advance(failed)
        return tasks

    def ask(self, row: BattleCall, model: AskedModel, messages: list[Message]) -> Reply:
        stream = Stream(row, self.lease(row, model) + GRACE)
        self._streams.add(stream)
        self._flusher.start()
        self._prompts.look_at(row)
        lend_connection()
        asked = model.request(messages), stream.take, settings.BATTLE_HUNG_SECONDS
        try:
            reply = _client_of(row, model).stream(*asked)
        except StoppedError:
            reply = Reply(stream.text, STOPPED, model.model)
        if moderation.look_at(row.battle.study.battle_rules, reply.text).is_flagged:
            stream.fault = FLAGGED
        lend_connection()
        return reply

    def keep(self, row: BattleCall, reply: Reply) -> None:
        stream = self._streams.get(row.pk) or Stream(row, GRACE)
        if _is_removed(row):
            row.raw_reply, row.messages = "", []
            return
        row.text, row.error_kind = reply.text, stream.fault
        row.begun_at = row.begun_at or stream.begun_at
        if row.ends_early:  # where it was seen
            row.text = row.shown
            return
        shown = stream.whole(reply.text).shown
        rules = row.battle.study.battle_rules
        row.error_kind = stream.fault or _named(rules, stream) or why_no_answer(reply.as_text)
        row.error = NO_ANSWER.get(row.error_kind, "")
        row.shown = row.shown if row.error_kind else shown

    def replied(self, ended: Sequence[Ended]) -> None:
        super().replied(ended)
        rows = [each.call[0] for each in ended]
        for row in rows:
            self._streams.end(row)
        advancing.advance(sorted({row.battle_id for row in rows}))

    def _abandon(self, lost: QuerySet[BattleCall]) -> int:
        count = super()._abandon(lost)
        own = {stream.row.battle_id for stream in self._streams.all()}
        for battle in advancing.unsettled():
            if battle not in own:
                advancing.advance([battle])
        return count

    def flush(self) -> bool:
        """Store what has come of all answers of this process; False if none is being given."""
        streams = self._streams.all()
        news = [stream for stream in streams if stream.look()]
        if streams:
            with transaction.atomic():
                _flush(streams, {stream.row.pk for stream in news}, timezone.now())
            for stream in news:
                stream.stored = stream.held
        return bool(streams)


def _is_removed(row: BattleCall) -> bool:
    return Battle.objects.filter(pk=row.battle_id, void=Battle.Void.REMOVED).exists()


def _flush(streams: Sequence[Stream], news: set[int], now: datetime) -> None:
    calls = locked_calls({stream.row.battle_id for stream in streams})
    rows = {row.pk: row for each in calls.values() for row in each}
    battles = {battle.pk: battle for battle in locked_battles(calls)}
    for stream in streams:
        row, battle = rows.get(stream.row.pk), battles.get(stream.row.battle_id)
        if row is None or battle is None or not _is_wanted(row, battle, stream):
            stream.is_stopped = True
        elif row.pk in news:
            _show(row, stream)
    asked = [stream.row.pk for stream in streams]
    BattleCall.objects.filter(pk__in=asked, state=State.IN_FLIGHT).update(deadline=now + GRACE)
    for battle in battles.values():
        advancing.bring_up(battle, calls[battle.pk], now)


def _is_wanted(row: BattleCall, battle: Battle, stream: Stream) -> bool:
    """Tell whether anybody waits for more of an answer."""
    is_same = row.state == State.IN_FLIGHT and row.attempt == stream.row.attempt
    return is_same and battle.state in GOING and not row.ends_early


def _show(row: BattleCall, stream: Stream) -> None:
    """Store what has come of an answer, and what of it may be shown."""
    shown, rules = stream.held.shown, stream.row.battle.study.battle_rules
    row.error_kind = FLAGGED if moderation.blocked_word(rules, shown) else _named(rules, stream)
    told: dict[str, Any] = {"text": stream.text, "begun_at": stream.begun_at, "error_kind": row.error_kind}
    if not row.error_kind:
        told["shown"] = shown
        row.length = len(shown)  # type: ignore[attr-defined]
    BattleCall.objects.filter(pk=row.pk).update(**told)


def _named(rules: BattleRules, stream: Stream) -> str:
    """The kind of an answer that tells who wrote it, where the study ends such battles; else ""."""
    return NAMED if rules.naming == BattleRules.Naming.VOID and stream.held.has_named else ""


def _client_of(row: BattleCall, model: AskedModel) -> StreamingClient:
    if not model.endpoint.is_simulated:
        return model.client()
    if not row.battle.study.simulated:
        raise NoReplyError(
            "configuration", "A simulated model may only answer in simulated studies", retryable=False
        )
    return SimulatedAuthor(model.options)


class _Looks:
    """Looks at each prompt once, for both sides of its battle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[int, int], Future[Found]] = {}

    def look_at(self, row: BattleCall) -> None:
        """Raise NoReplyError for a prompt that is not let through."""
        with self._lock:
            is_first = (row.battle_id, row.turn) not in self._found
            found = self._found.setdefault((row.battle_id, row.turn), Future())
            for key in list(self._found)[:-MOST_KNOWN]:
                del self._found[key]
        if is_first:
            _resolve(found, partial(moderation.look_at, row.battle.study.battle_rules, row.battle.turns[-1]))
        if found.result().is_flagged:
            raise NoReplyError(PROMPT, found.result().why, retryable=False)


def _resolve(future: Future[Found], look: Callable[[], Found]) -> None:
    try:
        future.set_result(look())
    except Exception as error:
        future.set_exception(error)


class _Flusher:
    """Flushes every so often, in a thread that lives while an answer is being given."""

    def __init__(self, flush: Callable[[], bool]) -> None:
        self._flush, self._lock = flush, threading.Lock()
        self._is_running = False

    def start(self) -> None:
        """Flush from now on, until there is nothing to flush."""
        with self._lock:
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="flusher", daemon=True).start()

    def _run(self) -> None:
        while self._goes_on():
            lend_connection()
            time.sleep(EVERY)

    def _goes_on(self) -> bool:
        with self._lock:
            try:
                self._is_running = self._flush()
            except Exception as error:
                if trouble(error):  # the database is away or busy: the pieces are kept until the next time
                    logger.warning("Answers of battles could not be stored (%s); it is tried again", error)
                else:
                    logger.exception("Answers of battles could not be stored; it is tried again")
            return self._is_running


door = _Battles()
