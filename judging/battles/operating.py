"""The operators' page on which a study is opened to battles, with what they can cost before it is saved."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from arena.audit.recording import Kind, record
from arena.models import Study
from arena.pages.counts import up_to
from arena.pages.operating import INVALID, refuse
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.pages.written import LinesField
from arena.studies import changes
from arena.studies.forms import PercentField, SharedForm, TickBox
from arena.texts.markdown import LONGEST_WRITTEN
from judging.battles import pricing, removing
from judging.battles.drawing import askable, models_of
from judging.battles.starting import asked
from judging.endpoints import costs
from judging.judges.forms import AmountField
from judging.judges.rights import WHOM_TO_ASK, may_ask_models
from judging.judges.services import MOST_TOKENS, JudgeError, missing_key
from judging.models import Author, Battle, BattleRules, Endpoint, Judge, Purse
from judging.models.endpoints import SIMULATED_ADDRESS
from judging.spending.budgets import check_models, check_outer, set_battles_budget

OpenTo = BattleRules.OpenTo

LONGEST_EXAMPLE: Final = 1000
MOST: Final = 1_000_000

TOO_FEW: Final = "Choose at least two models. A battle is between two."
NO_CONSENT: Final = "Say what visitors agree to before their first battle: everybody may come."

NO_BUDGET: Final = "Battles are open without a budget of a day: nothing limits what they cost."

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Who": ("open_to", "lets_choose", "consent", "examples"),
    "Models": ("authors",),
    "Sampling": ("system", "temperature", "max_tokens", "random_share", "warm_up"),
    "Limits": (
        *("most_characters", "most_turns", "thread"),
        *("visitor_daily", "address_daily", "most_waiting"),
    ),
    "Money": ("budget",),
    "Moderation": ("naming", "moderation_endpoint", "moderation_judge", "fails_closed", "blocked_words"),
}

LABELS: Final[Mapping[str, str]] = {
    "open_to": "Who may battle",
    "lets_choose": "People who are signed in may choose both models",
    "consent": "Text on what is stored",
    "authors": "Models that answer",
    "max_tokens": "Longest answer in tokens",
    "warm_up": "Warm-up",
    "most_characters": "Longest prompt in characters",
    "most_turns": "Most turns of a battle",
    "thread": "After the first turn",
    "visitor_daily": "Battles of a visitor in a day",
    "address_daily": "Battles from an address in a day",
    "most_waiting": "Battles that may wait",
    "naming": "A sentence that names its model or maker",
    "moderation_judge": "Judge that looks at texts",
    "fails_closed": "Stop what cannot be looked at",
}

HELP: Final[Mapping[str, str]] = {
    "open_to": "Everybody and people who are signed in need a public study.",
    "lets_choose": "Such battles are marked, and rank nobody.",
    "consent": "Visitors agree to it before their first battle. Markdown.",
    "authors": "Only models with an endpoint. A battle is between two of them.",
    "system": "What every model is told before the prompt. Leave empty for nothing.",
    "temperature": "The same for all models. Leave empty for each endpoint’s own.",
    "max_tokens": "With thinking. The same for all models.",
    "warm_up": "Battles that a model has before it counts as known.",
    "visitor_daily": "A visitor is an account or a cookie.",
    "address_daily": "The address itself is not stored: a digest of it is, and only for the day.",
    "most_waiting": "For a free place at an endpoint. Later visitors are told to come back.",
    "moderation_endpoint": "It is sent each prompt before it is answered, and each answer, at /moderations.",
    "moderation_judge": "Its model is asked about each prompt and each answer, which costs money.",
    "fails_closed": "Else a text that cannot be looked at is let through.",
    "blocked_words": "One word or phrase per line. Prompts and answers with one are stopped.",
}


class RulesForm(SharedForm):
    """The rules of a study's battles, and what a day of them may cost."""

    examples = LinesField(
        longest=LONGEST_EXAMPLE, label="Examples", help_text="Prompts that visitors can take, one per line."
    )
    random_share = PercentField(
        label="Random share (%)",
        help_text="Of battles whose models are drawn at random. In the others, those are drawn whose rating "
        "is least sure.",
    )
    budget = AmountField(
        label="Budget of a day",
        help_text="No battle begins that could pass it, in the currency of the prices. Empty: no limit.",
    )

    currency = "USD"

    class Meta:
        model = BattleRules
        fields = tuple(name for names in GROUPS.values() for name in names if name != "budget")
        labels = LABELS
        help_texts = HELP
        field_classes = {
            "max_tokens": up_to(MOST_TOKENS),
            "most_turns": up_to(50),
            **dict.fromkeys(
                ("most_characters", "visitor_daily", "address_daily", "most_waiting"), up_to(MOST)
            ),
        }
        widgets = {
            **dict.fromkeys(("open_to", "naming", "thread"), forms.RadioSelect),
            **dict.fromkeys(("lets_choose", "fails_closed"), TickBox),
            **dict.fromkeys(("consent", "blocked_words"), forms.Textarea({"rows": 4})),
            "authors": forms.CheckboxSelectMultiple,
            "system": forms.Textarea({"rows": 3}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.instance.study
        self.purse = Purse.objects.filter(battles=study).first()
        if self.purse and "budget" in self.fields:
            self.initial["budget"] = self.purse.budget
        choices: Mapping[str, Any] = {
            "authors": askable(study.pk),
            "moderation_endpoint": Endpoint.objects.exclude(base_url=SIMULATED_ADDRESS),
            "moderation_judge": Judge.objects.filter(active=True, provider=Judge.Provider.OPENAI).whole(),
        }
        for name in choices.keys() & self.fields.keys():
            self.fields[name].queryset = choices[name]  # type: ignore[attr-defined]
        if authors := self.fields.get("authors"):
            name_of = "{0.contestant.name} ({0.endpoint.model})".format
            authors.label_from_instance = name_of  # type: ignore[attr-defined]

    @property
    def groups(self) -> Iterator[tuple[str, list[BoundField]]]:
        for title, names in GROUPS.items():
            yield title, [self[name] for name in names if name in self.fields]

    @property
    def chosen(self) -> list[Author]:
        """The models that are chosen: as typed, or as stored."""
        if self.is_bound:
            return list(self.cleaned_data.get("authors", ()))
        return list(models_of(self.instance))

    def clean_temperature(self) -> float | None:
        wanted: float | None = self.cleaned_data["temperature"]
        if wanted is not None and not 0 <= wanted <= 2:
            raise forms.ValidationError("Enter a number from 0 to 2, or leave it empty.")
        return wanted

    def clean_consent(self) -> str:
        text = str(self.cleaned_data["consent"])
        if len(text) > LONGEST_WRITTEN:
            raise forms.ValidationError(f"Please keep this text under {LONGEST_WRITTEN:,} characters.")
        return text

    def clean(self) -> dict[str, Any] | None:
        cleaned, given = super().clean(), self.cleaned_data
        if given.get("open_to", OpenTo.NOBODY) != OpenTo.NOBODY:
            if "authors" in given and len(given["authors"]) < 2:
                refuse(self, "authors", TOO_FEW)
            if given["open_to"] == OpenTo.EVERYBODY and not given.get("consent", "x").strip():
                refuse(self, "consent", NO_CONSENT)
        return cleaned

    def _post_clean(self) -> None:
        """Refuse what the budgets around a battle could not count, too."""
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        models = [asked(self.instance, author) for author in self.chosen]
        try:
            if self.cleaned_data.get("budget") is not None and models:
                self.currency = check_models("battles", models)
            if self.instance.open_to != OpenTo.NOBODY:
                check_outer(self.instance.study, "battles", models)
        except JudgeError as error:
            refuse(self, "budget", str(error))

    def store(self, by: Visitor) -> bool:
        """Store what was changed, on record; False if nothing was. Raises JudgeError."""
        study, changed = self.instance.study, {*self.changed_data}
        with transaction.atomic():
            self.instance.pk = BattleRules.objects.get_or_create(study=study)[0].pk
            columns = changed - {"authors", "budget"}
            is_changed = bool(changes.store_rules(self.instance, study, by, columns))
            if "authors" in changed:
                is_changed |= _store_models(self.instance, self.chosen, by)
            if "budget" in changed:
                set_battles_budget(study, self.cleaned_data["budget"], self.currency, by)
                is_changed = True
        return is_changed


def _store_models(rules: BattleRules, wanted: Sequence[Author], by: Visitor) -> bool:
    before = list(models_of(rules))
    if {each.pk for each in before} == {each.pk for each in wanted}:
        return False
    rules.authors.set(wanted)
    now, then = map(_in_words, (wanted, before))
    record(Kind.SETTING, by, f"Battle rules, Models: {now}. Before: {then}.", study=rules.study)
    return True


def _in_words(models: Sequence[Author]) -> str:
    return ", ".join(f"“{each.contestant.name}”" for each in models) or "none"


@dataclass(frozen=True)
class Cost:
    """What battles can cost, in words: of a battle, and of a day."""

    battle: str
    day: str
    has_no_bound: bool


def cost(form: RulesForm) -> Cost:
    """What battles by the rules of a form can cost; of those that are stored where nothing is typed."""
    typed = form.cleaned_data.get("budget") if form.is_bound else None
    purse = form.purse
    budget = typed if form.is_bound else purse.budget if purse else None
    found = pricing.most(form.instance, form.chosen)
    if budget is None:
        day = "Nothing limits what a day can cost. Set a budget of a day."
    else:
        currency = found.currency if found else purse.currency if purse else form.currency
        day = f"At most {costs.in_words(budget, currency)}: no battle begins that could pass it."
    return Cost(_of_battle(form.instance, form.chosen, found), day, budget is None)


def _of_battle(rules: BattleRules, models: Sequence[Author], found: pricing.Most | None) -> str:
    if len(models) < 2:
        return "Choose two models to see it."
    if all(author.endpoint.is_simulated for author in models):
        return "Nothing: no model is asked, as all of them are simulated."
    if found is None:
        return "Not known: a model has no price, no longest answer, or a price in another currency."
    turn, whole = (costs.in_words(each, found.currency) for each in (found.turn, found.battle))
    dearest = f"At most {turn} with one turn, between {found.names[0]} and {found.names[1]}, the dearest two"
    turns = f", and {whole} with {rules.most_turns}" if rules.most_turns > 1 else ""
    return f"{dearest}{turns}."


def missing(rules: BattleRules) -> Iterator[str]:
    """What keeps battles from beginning, in words."""
    models = list(models_of(rules))
    if rules.study.is_draft:
        yield "The study is a draft. Publish it first."
    elif rules.study.is_closed:
        yield "The study is closed, so it takes no ratings."
    if len(models) < 2:
        yield f"Two models with an endpoint: {len(models) or 'none'} is chosen."
    if not rules.consent.strip():
        yield "A text on what is stored, before everybody may battle."
    if rules.open_to in (OpenTo.ACCOUNTS, OpenTo.EVERYBODY) and not rules.study.is_public:
        yield "The study is not public, so only its members can battle."
    for author in models:
        if why := missing_key(author.endpoint):
            yield f"{author.contestant.name}: {why}"


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def settings(request: OperatorRequest) -> HttpResponse:
    """The rules of battles; POST stores them, or shows what the typed ones could cost."""
    may_change = may_ask_models(request.user)
    if request.method != "POST":
        return _show(request, RulesForm(instance=_rules(request.study)), may_change)
    if not may_change:
        raise PermissionDenied
    with transaction.atomic():
        # Two who save at once take turns, so that the second hears of what the first has changed.
        Study.objects.select_for_update(no_key=True).get(pk=request.study.pk)
        form = RulesForm(request.POST, instance=_rules(request.study))
        if form.is_valid() and "cost" not in request.POST and _stored(request, form):
            return redirect(request.path)
    if "cost" in request.POST and request.htmx:
        return render(request, "battles/_cost.html", {"cost": cost(form), "form": form})
    return _show(request, form, may_change)


def _stored(request: OperatorRequest, form: RulesForm) -> bool:
    try:
        with transaction.atomic():
            is_changed = form.store(request.user)
    except JudgeError as error:
        refuse(form, error.field or "budget", str(error))
        return False
    messages.success(request, "Saved." if is_changed else "Nothing was changed.")
    if form.instance.open_to != OpenTo.NOBODY and cost(form).has_no_bound:
        messages.warning(request, NO_BUDGET)
    return True


def _show(request: OperatorRequest, form: RulesForm, may_change: bool) -> HttpResponse:
    stored = _rules(request.study)
    if not may_change:
        for field in form.fields.values():
            field.disabled = True
    context = {
        "study": request.study,
        "form": form,
        "rules": stored,
        "missing": list(missing(stored)),
        "cost": cost(form),
        "may_change": may_change,
        "whom_to_ask": WHOM_TO_ASK,
        "may_add": is_staff(request.user),
        "can_be_asked": askable(request.study.pk).exists(),
    }
    return render(request, "battles/settings.html", context, status=INVALID if form.errors else 200)


@require_POST
@operator
def remove(request: OperatorRequest, battle: int) -> HttpResponse:
    """Remove the texts of a battle, and its vote."""
    found = get_object_or_404(Battle, pk=battle, study=request.study)
    removing.remove(found, request.user)
    messages.success(request, f"Removed. {removing.IN_RELEASES}")
    return redirect("operate-battles-watch", slug=request.study.slug)


def _rules(study: Study) -> BattleRules:
    return BattleRules.objects.filter(study=study).first() or BattleRules(study=study)
