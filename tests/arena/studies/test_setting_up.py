"""From an empty study to a public one, by the forms alone; and what the forms refuse."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Completion, Reference, Role, Study
from arena.rating import assignments
from arena.rating.opinions import NotAllowedError
from arena.studies import counts, lifecycle, steps
from arena.studies.setting_up import USUAL_GUIDELINES
from arena.texts.markdown import LONGEST_WRITTEN
from tests import factories as make
from tests.arena.conftest import filled, save, sent

RATING: dict[str, Any] = {
    "ratings_per_pair_people": "2",
    "goal": "10",
    "rater_limit": "20",
    "criteria": " helpfulness \n\ntruthfulness\n",
    "reasons": "",
    "show_references": "demand",
    "training_threshold": "80",
    "pairing": "adaptive",
    "control_share": "12.5",
    "repeat_share": "5",
}
"""As somebody types them in a study with references and pairs to check and train by."""


def page(name: str) -> str:
    return reverse(name, args=["rivers"])


def test_a_new_study_is_private_and_leads_to_its_steps(
    signed_in: Callable[[str], Client], study: Study
) -> None:
    client = signed_in("staff")
    for slug, problem in (
        ("RIVERS", "Another study"),
        ("audit", "reserved"),
        ("a b", "hyphens"),
        ("--help", "Begin"),
    ):
        refused = client.post(reverse("operate-new"), {"name": "x", "slug": slug})
        assert refused.status_code == 422
        assert problem in refused.content.decode()
    for name in (study.name.upper(), "La\u200bkes", "L\u0430kes"):
        assert "name" in client.post(reverse("operate-new"), {"name": name}).context["form"].errors
    made = client.post(reverse("operate-new"), {"name": "Lakes", "slug": "lakes", "description": ""})
    assert made["Location"] == "/operate/lakes/guidelines/"
    lakes = Study.objects.get(slug="lakes")
    assert (lakes.is_draft, lakes.is_public) == (True, False)
    text = client.get("/operate/lakes/").content.decode()
    assert "No answers yet" in text
    assert "Nobody can join yet" in text


@pytest.fixture
def full(study: Study) -> Study:
    """The study with everything that a setting of rating acts on."""
    prompt = study.prompts.first()
    Reference.objects.create(prompt=prompt, author="a key", turns=["Two."])
    first, second, third = Completion.objects.filter(prompt=prompt).order_by("pk")
    known = {"prompt": prompt, "gold": "first", "gold_source": "a key"}
    make.make_pair(first=first, second=second, use="train", explanation="because", **known)
    make.make_pair(first=first, second=third, use="check", **known)
    return study


def test_settings_that_would_change_nothing_are_not_offered(operator: Client, study: Study) -> None:
    only_for_some = {"show_references", "training_threshold", "gold_share", "thinking"}
    assert not only_for_some & operator.get(page("operate-rating")).context["form"].fields.keys()
    Study.objects.update(gold_share=0.1)  # it is on, so it can be turned off
    assert "gold_share" in operator.get(page("operate-rating")).context["form"].fields


@pytest.mark.usefixtures("full")
def test_lists_are_lines_and_shares_are_percent(operator: Client, study: Study) -> None:
    assert save(operator, page("operate-rating"), **RATING).status_code == 302
    study.refresh_from_db()
    assert study.criteria == ["helpfulness", "truthfulness"]
    assert study.show_references == "demand"
    assert (study.reasons, study.training_threshold, study.control_share) == ([], 0.8, 0.125)
    shown = operator.get(page("operate-rating")).content.decode()
    assert "helpfulness\ntruthfulness" in shown
    assert 'value="12.5"' in shown
    assert 'value="80"' in shown


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("criteria", "a\na", "is listed twice"),
        ("reasons", "Clear\nCLEAR", "is listed twice"),
        ("reasons", "Clear\n\u202eClear", "Entry 2 contains the invisible character U+202E"),
        ("criteria", "\n".join(map(str, range(21))), "There are 21 entries; the limit is 20"),
        ("criteria", "x" * 101, "Entry 1 has 101 characters"),
        ("training_threshold", "120", "at most 100"),
        ("repeat_share", "51", "at most 50"),
        ("control_share", "-1", "at least 0"),
        ("points", "7", "Choose from the list"),
        ("tasks_0", "", "Choose at least one task"),
        ("tasks_1", "compare", "“Compare pairs” is chosen twice"),
        ("tasks_1", "dance", "Choose from the list"),
        ("score_lowest", "5", "The highest score must be above the lowest"),
        ("score_lowest", "-1", "at least 0"),
        ("score_highest", "101", "at most 100."),
        ("ratings_per_pair_people", "-1", "at least 1"),
        ("ratings_per_pair_people", "1000000000000", "at most 1,000."),
        ("goal", "9" * 30, "at most 1,000,000."),
        ("stop_margin", "1001", "at most 1,000."),
        ("control_share", "lots", "Enter a number"),
        ("daily_limit", "0", "at least 1"),
        ("rater_limit", "9", "The limit must not be below the goal, which is 10."),
        ("daily_limit", "21", "The limit of a day must not be above that in all, which is 20."),
    ],
)
@pytest.mark.usefixtures("full")
def test_what_cannot_be_is_said_and_nothing_is_stored(
    operator: Client, study: Study, field: str, value: str, problem: str
) -> None:
    response = save(operator, page("operate-rating"), **RATING | {field: value})
    assert response.status_code == 422
    text = response.content.decode()
    assert problem in text
    assert "helpfulness" in text or field == "criteria"  # what was typed is still there
    study.refresh_from_db()
    assert (study.criteria, study.pairing) == ([], "balanced")


def test_texts_of_operators_have_a_limit_and_longer_ones_stay(operator: Client, study: Study) -> None:
    Study.objects.update(guidelines="x" * (LONGEST_WRITTEN + 1))
    assert "maxlength" not in operator.get(page("operate-guidelines")).content.decode()
    for name, field in (("guidelines", "guidelines"), ("guidelines", "consent"), ("publish", "description")):
        long = {field: "x" * (LONGEST_WRITTEN + 1), "name": study.name, "visibility": "private"}
        refused = operator.post(page(f"operate-{name}"), long)
        assert refused.context["form"].errors.keys() == {field}
    operator.post(page("operate-guidelines"), {"guidelines": "x" * LONGEST_WRITTEN})
    study.refresh_from_db()
    assert len(study.guidelines) == LONGEST_WRITTEN


@pytest.mark.usefixtures("full")
def test_the_feature_for_pairing_is_one_that_answers_have(operator: Client, study: Study) -> None:
    shown = operator.get(page("operate-rating")).content.decode()
    assert "manage.py import_data, traces or local_features" in shown
    assert "pairing_feature" not in shown
    answer = Completion.objects.filter(prompt__study=study)[0]
    make.make_feature(completion=answer, name="entropy.full")
    make.make_feature(completion=answer, name="entropy_low", variant="bounds")
    make.make_feature(completion=answer, name="mean_logprob", variant="released")
    shown = operator.get(page("operate-rating")).content.decode()
    assert "Entropy, prompt and answer" in shown
    assert "Entropy (at least)" in shown
    assert "Mean log-probability" not in shown
    for chosen, status in (("mean_logprob", 422), ("entropy.full", 302)):
        assert save(operator, page("operate-rating"), pairing_feature=chosen).status_code == status
    answer.features.all().delete()
    assert "entropy.full (no answer has it)" in operator.get(page("operate-rating")).content.decode()


def test_tasks_have_an_order_and_stay_while_they_have_opinions(operator: Client, study: Study) -> None:
    chosen = {"tasks_0": "score", "tasks_1": "check", "score_highest": "10"}
    assert save(operator, page("operate-rating"), **chosen).status_code == 302
    study.refresh_from_db()
    assert (study.tasks, study.score_highest) == (["score", "check"], 10)
    assert "Tasks: Score answers, check requirements. Before: Compare pairs." in [
        event.note for event in study.events.all()
    ]
    completion = Completion.objects.filter(prompt__study=study).first()
    make.make_score(completion=completion, lowest=1, highest=10, value=7)
    make.make_answer(completion=completion)
    for sent_, problem in (
        ({"tasks_0": "check", "tasks_1": ""}, "Keep “Score answers”: the study has 1 score."),
        ({"tasks_1": ""}, "Keep “Check requirements”: the study has 1 check of requirements."),
        ({"score_lowest": "0"}, "The scale must stay 1 to 10: 1 score was given on it."),
    ):
        refused = save(operator, page("operate-rating"), **sent_)
        assert (refused.status_code, problem in refused.content.decode()) == (422, True)
    study.refresh_from_db()
    assert (study.tasks, study.score_lowest) == (["score", "check"], 1)


def test_tasks_are_added_to_the_one_there_is(operator: Client, study: Study) -> None:
    assert save(operator, page("operate-rating"), tasks_1="score", tasks_2="check").status_code == 302
    study.refresh_from_db()
    assert study.tasks == ["compare", "score", "check"]


def test_saving_writes_what_was_changed_and_nothing_else(operator: Client, study: Study) -> None:
    text = operator.get(page("operate-guidelines"))
    assert text.status_code == 200
    Study.objects.update(revision=41, name="Renamed meanwhile")
    stay = operator.post(page("operate-guidelines"), {"guidelines": "New", "save": ""})
    study.refresh_from_db()
    assert (study.guidelines, study.name, study.revision) == ("New", "Renamed meanwhile", 41)
    on = operator.post(page("operate-guidelines"), {"guidelines": "New", "next": ""})
    assert (on["Location"], stay["Location"]) == (page("operate-rating"), page("operate-guidelines"))


def test_the_preview_is_safe_and_stores_nothing(operator: Client, study: Study) -> None:
    sent = {"guidelines": "**bold** <script>alert(1)</script>", "preview": ""}
    text = operator.post(page("operate-guidelines"), sent).content.decode()
    assert "<strong>bold</strong>" in text
    assert "<script>alert" not in text
    assert "Not saved yet" in text
    study.refresh_from_db()
    assert study.guidelines == "# Be fair"


def test_the_usual_guidelines_are_a_start_and_store_nothing(operator: Client, study: Study) -> None:
    Study.objects.update(guidelines="")
    assert "Start from the usual guidelines" in operator.get(page("operate-guidelines")).content.decode()
    shown = operator.post(page("operate-guidelines"), {"usual": "", "consent": "Kept"})
    assert shown.context["form"].initial == {"guidelines": USUAL_GUIDELINES["compare"], "consent": "Kept"}
    study.refresh_from_db()
    assert study.guidelines == ""
    Study.objects.update(tasks=["check"])
    for chosen, kind in (("", "check"), ("score", "score"), ("other", "check")):
        shown = operator.post(page("operate-guidelines"), {"usual": chosen})
        assert shown.context["form"].initial["guidelines"] == USUAL_GUIDELINES[kind]


@pytest.mark.parametrize(("kind", "warns"), [("compare", True), ("check", False)])
def test_publish_warns_of_the_usual_guidelines_for_another_task(
    operator: Client, study: Study, kind: str, warns: bool
) -> None:
    Study.objects.update(tasks=["check"], is_draft=True, guidelines=USUAL_GUIDELINES[kind])
    html = operator.get(page("operate-publish")).content.decode()
    assert ("the usual text for another task" in html) == warns


def test_publishing_opens_a_draft_for_people_and_the_board_for_all(operator: Client, study: Study) -> None:
    Study.objects.update(is_draft=True, guidelines="")
    study.refresh_from_db()
    rater = study.memberships.get(role=Role.RATER).rater
    with pytest.raises(NotAllowedError, match="not open yet"):
        assignments.claim(study, rater)
    assert lifecycle.possible(study) == []
    sent = {"name": "Rivers", "description": "", "visibility": "public", "licence": "CC-BY-4.0"}
    draft = operator.get(page("operate-publish"))
    assert [step.title for step in draft.context["open_steps"]] == ["Guidelines"]
    assert f'Not done yet: <a href="{page("operate-guidelines")}">Guidelines</a>.' in draft.content.decode()
    assert operator.post(page("operate-publish"), sent).status_code == 302
    assert Client().get(study.get_absolute_url()).status_code == 200
    study.refresh_from_db()
    assert (study.revision, study.is_draft) == (1, False)
    assert study.events.filter(note="Published.").exists()
    assert assignments.claim(study, rater)
    assert (
        f"http://testserver{study.get_absolute_url()}"
        in operator.get(page("operate-publish")).content.decode()
    )


def test_a_page_opened_before_a_change_asks_before_it_undoes_it(operator: Client, study: Study) -> None:
    opened = {
        "guidelines": "Mine",
        "consent": "",
        "seen": operator.get(page("operate-guidelines")).context["form"].seen,
    }
    assert operator.post(page("operate-guidelines"), opened).status_code == 302
    late = operator.post(page("operate-guidelines"), opened | {"guidelines": "Yours"})
    assert "was changed after you opened this page" in late.content.decode()
    study.refresh_from_db()
    assert study.guidelines == "Mine"
    again = {"guidelines": "Yours", "consent": "", "seen": late.context["form"].seen}
    assert operator.post(page("operate-guidelines"), again).status_code == 302


def test_a_page_that_was_opened_before_a_change_leaves_what_it_did_not_touch(
    operator: Client, study: Study
) -> None:
    address = page("operate-rating")
    opened = filled(operator.get(address))
    assert operator.post(address, opened | {"goal": "7", "reasons": "Mine"}).status_code == 302
    late = operator.post(address, opened | {"reasons": "Yours", "rater_limit": "9"})
    assert [*late.context["form"].errors] == ["reasons"]
    again = opened | {"reasons": "Yours", "rater_limit": "9", "seen": late.context["form"].seen}
    assert operator.post(address, again).status_code == 302
    study.refresh_from_db()
    assert (study.goal, study.reasons, study.rater_limit) == (7, ["Yours"], 9)


def test_every_step_leads_to_the_next_and_the_last_to_the_progress(study: Study) -> None:
    found = steps.steps(study)
    places = [steps.place(study, name) for name in steps.steps_of(study)]
    assert [step.number for step in found] == list(range(1, 7))
    following = [place.next_address for place in places if place]
    assert following == [*[step.address for step in found][1:], page("operate-progress")]
    assert steps.place(study, "operate-state") is None
    study.tasks = ["check"]
    assert [step.title for step in steps.steps(study)][3] == "Requirements"


def test_the_steps_say_what_is_missing(db: None) -> None:
    study = make.make_study(is_draft=True)
    states = {step.title: step.state for step in steps.steps(study)}
    wanted = dict.fromkeys(("Guidelines", "Import", "People", "Publish"), "open")
    assert states == {**wanted, "Rating": "done", "Judges": "optional"}
    first = steps.next_step(steps.steps(study))
    assert first.title == "Guidelines"


@pytest.fixture
def holed(study: Study) -> Completion:
    """One answer of nine is unknown, and one contestant is retired."""
    other, *_, hole = Completion.objects.filter(prompt__study=study).order_by("pk")[:5]
    Completion.objects.filter(pk=hole.pk).update(turns=[])
    retired = make.make_contestant(study=study, retired_at=study.created_at)
    make.make_completion(prompt=hole.prompt, contestant=retired)
    make.make_completion(prompt=hole.prompt, contestant=other.contestant, version=2, is_current=False)
    return hole


def test_holes_are_counted_shown_and_listed(holed: Completion, study: Study, operator: Client) -> None:
    assert counts.cells(study) == counts.Cells(prompts=3, contestants=3, filled=8)
    name = str(holed.contestant)
    listed = operator.get(page("operate-contestants")).context["contestants"]
    lacking = {one.name: missing for one, missing in listed if not one.retired_at}
    assert sorted(lacking.values()) == [0, 0, 1]
    assert lacking[name] == 1
    text = operator.get(page("operate-completions")).content.decode()
    assert text.count("cell-missing") == 2  # the cell, and the key
    assert text.count('class="matrix-name"') == 3
    assert f"<span>{name}</span>" in text
    only = operator.get(page("operate-completions") + "?show=holes").content.decode()
    assert holed.prompt.external_id in only
    assert only.count('<th scope="row">') == 1
    file = sent(operator.get(page("operate-holes")))
    assert file.splitlines() == [
        "prompt,subset,category,contestant",
        f"{holed.prompt.external_id},,coding,{name}",
    ]


def test_pairs_want_what_is_left_beyond_what_is_there(study: Study) -> None:
    Study.objects.update(ratings_per_pair_people=2)
    study.refresh_from_db()
    first, second, third = Completion.objects.filter(prompt=study.prompts.first()).order_by("pk")
    make.make_pair(prompt=first.prompt, first=first, second=second, people_ratings=3)
    make.make_pair(prompt=first.prompt, first=first, second=third, people_ratings=1)
    # By hand: 3 prompts of 3 answers make 9 pairs that want 18; 2 of 3 and 1 of 1 count, so 15 are left.
    assert counts.wanted(study) == counts.Wanted(9, 18, 3, 4, 1, 7)
    wanted = counts.wanted(study)
    assert (wanted.left, wanted.beyond, wanted.percent) == (15, 1, 16)
    assert counts.Wanted().percent == 0
