"""Small studies with right answers."""

from django.utils import timezone

from arena.models import Pair, Rater, Study
from leaderboard.refreshing import services
from tests import factories


class Judging:
    """A study of pairs with gold labels; ``says`` stores what a rater says about one."""

    def __init__(self) -> None:
        self.study: Study = factories.make_study()
        self.pairs: list[Pair] = []
        self.raters: dict[str, Rater] = {}

    def pair(self, gold: str, subset: str = "", first: str = "long text", second: str = "short") -> Pair:
        prompt = factories.make_prompt(study=self.study, subset=subset)
        texts = [
            factories.make_completion(prompt=prompt, contestant=None, turns=[text])
            for text in (first, second)
        ]
        source = "by hand" if gold else ""
        pair = factories.make_pair(
            prompt=prompt, first=texts[0], second=texts[1], gold=gold, gold_source=source
        )
        self.pairs.append(pair)
        return pair

    def again(self) -> Pair:
        """One more pair of the last prompt, as the last one."""
        last = self.pairs[-1]
        first, second = (
            factories.make_completion(prompt=last.prompt, contestant=None, turns=each.turns)
            for each in (last.first, last.second)
        )
        pair = factories.make_pair(
            prompt=last.prompt, first=first, second=second, gold=last.gold, gold_source=last.gold_source
        )
        self.pairs.append(pair)
        return pair

    def publish(self, **columns: object) -> None:
        """Close the study, show it to everybody and compute its numbers."""
        for name, value in {"visibility": "public", "closed_at": timezone.now(), **columns}.items():
            setattr(self.study, name, value)
        self.study.save()
        services.refresh(self.study)

    def judge(self, slug: str, straight: str, swapped: str, **facts: object) -> Rater:
        """A judge and what it says about each pair: 1, = or 2 in the stored numbering, ? or a blank."""
        rater = factories.make_rater(kind="judge", slug=slug, name=slug, study=self.study, facts=facts)
        self.raters[slug] = rater
        for order, verdicts in enumerate((straight, swapped)):
            self.says(rater, verdicts, swapped=bool(order))
        return rater

    def person(self, verdicts: str) -> Rater:
        rater = factories.make_rater()
        self.says(rater, verdicts)
        return rater

    def says(self, rater: Rater, verdicts: str, *, swapped: bool = False) -> None:
        for pair, verdict in zip(self.pairs, verdicts, strict=False):
            given = {"pair": pair, "rater": rater, "swapped": swapped, "points": 3}
            if verdict == "?":
                factories.make_comparison(**given, reason="unparsable")
            elif verdict != " ":
                rating = {"1": 1, "=": 2, "2": 3}[verdict]
                factories.make_comparison(**given, rating=4 - rating if swapped else rating)
