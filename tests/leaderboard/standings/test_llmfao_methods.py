"""The page docs/llmfao.md: every table and quoted line on it is computed here again from the public data.

With -s this prints what the page must hold.
"""

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from arena.models import Study
from leaderboard.anchoring.content import data_of_study
from leaderboard.snapshots.presentation import findings
from leaderboard.stats import plan_from_data, rank_ratings
from leaderboard.terminal.options import opinions_chosen
from tests.leaderboard import llmfao_page as llmfao
from tests.leaderboard.llmfao_page import FIT, GPT4, GPT35, LABELS, METHODS, ORDINAL, PEOPLE, Votes

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[3] / "docs" / "llmfao.md"
README = Path(__file__).parents[3] / "README.md"


def said_of_votes(people):
    for name in ("GPT 4", "MythoMax-L2 (13B)", "Mythalion 13B"):
        yield f"{name}: {100 * people.shown_first(name):.0f}%"
    for name in ("Falcon Instruct (40B)", "GPT 3.5 Turbo", "command"):
        prompts = np.bincount(people.ratings.prompt[people.of(name)])
        yield f"{name}: {prompts.max()} of {prompts.sum()}"
        if name.startswith("Falcon"):
            rest = people.only(people.ratings.prompt != prompts.argmax())
            yield f"without that prompt its score is {llmfao.scores(rest.ranked(FIT))[name]:.0f}"
    leaders = {
        people.only(people.ratings.prompt != prompt).ranked(FIT).standings[0].contestant
        for prompt in np.unique(people.ratings.prompt)
    }
    yield f"{' or '.join(sorted(leaders))} is first whichever single prompt is left out"


def said_of_ranks(people, gpt35, found):
    plain, whole = llmfao.ranks(people.without_position()), llmfao.ranks(llmfao.scores(found["ordinal"]))
    for name in ("ReMM SLERP L2 13B", "LLaMA-2-Chat (70B)", "GPT 3.5 Turbo", "Mythalion 13B"):
        yield f"{name} {plain[name]} and {whole[name]}"
    ordinal = llmfao.scores(gpt35.ranked(ORDINAL))
    plain, whole = llmfao.ranks(gpt35.without_position()), llmfao.ranks(ordinal)
    for name in ("MythoMax-L2 (13B)", "GPT 4"):
        yield f"{name} from {plain[name]} to {whole[name]}"
    order = [row.contestant for row in found["Bradley-Terry"].standings]
    alike = llmfao.inseparable(found["Bradley-Terry"])
    others = sum(frozenset(("GPT 4", name)) in alike for name in order)
    yield f"{others} other models share a letter with GPT 4"
    ends = sum(frozenset(pair) not in alike for pair in product(order[:10], order[-10:]))
    yield f"{ends} of the 100 pairs"
    neighbours = sum(frozenset(pair) not in alike for pair in pairwise(order))
    yield f"{neighbours} of the 58 pairs of neighbours"


def said_by_commands(everything, found):
    judges = [everything[rater].ranked(METHODS["Bradley-Terry"]) for rater in (GPT4, GPT35)]
    for standings in (found["Bradley-Terry"], *judges, found["ordinal, leans"]):
        yield from findings(standings.details, standings.parameters["interval"])
        yield from (line.split(" and each")[0] for line in standings.warnings if "no finite answer" in line)
    people = everything[PEOPLE]
    pair = people.names.index("GPT 4"), people.names.index("Platypus-2 Instruct (70B)")
    yield plan_from_data(people.ratings, gap=30.0).sentence(people.names)
    yield plan_from_data(people.ratings, between=pair).sentence(people.names)


def said_of_anchoring(rankings):
    for each in rankings:
        votes = each.found.effective_votes_overall
        yield f"{votes:,.0f} with {each.data.judges[0]} (power {each.found.power:.2f})"


@pytest.fixture
def computed(reference_data):
    """Everything the page must hold: its tables, and the lines it says."""
    call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
    study = Study.objects.get(slug="llmfao")
    read = {rater: opinions_chosen(study, rater, "")[0] for rater in LABELS}
    everything = {rater: Votes.read(study, own) for rater, own in read.items()}
    crowd = np.unique(read[PEOPLE].rows["pair"])
    shared = {r: replace(own, rows=own.rows[np.isin(own.rows["pair"], crowd)]) for r, own in read.items()}
    same = {rater: Votes.read(study, own) for rater, own in shared.items()}
    judges = ("gpt-4", "gpt-3.5")
    anchored = [data_of_study(study, [judge], ties=True).ranking(95.0) for judge in judges]
    people = everything[PEOPLE]
    found = {label: people.ranked(method) for label, method in METHODS.items()}
    likened = {label: llmfao.scores(standings) for label, standings in found.items()}
    likened |= {"ordinal without position": people.without_position()}
    by_gpt4 = dict(zip(anchored[0].data.names, anchored[0].found.best.value.tolist(), strict=True))
    said = (
        *said_of_votes(people),
        *said_of_ranks(people, same[GPT35], found),
        *said_by_commands(everything, found),
        *said_of_anchoring(anchored),
    )
    return {
        "methods": llmfao.method_table(found),
        "likeness": llmfao.likeness_table(likened),
        "certainty": llmfao.certainty_table(people, found),
        "raters": llmfao.rater_table(same, by_gpt4),
        "agreement": llmfao.agreement_table(same),
        "effects": llmfao.effect_table(everything),
        "said": "\n".join(said),
    }


def test_the_page_is_what_the_data_say(computed):
    for name, text in computed.items():
        print(f"\n{name}:\n{text}")
    page = PAGE.read_text()
    said = computed.pop("said").splitlines()
    assert [name for name, table in computed.items() if table not in page] == []
    flowing = " ".join(page.replace("\n> ", "\n").split())
    assert [line for line in said if line not in flowing] == []


def test_the_readme_shows_the_first_ten_of_the_board(reference_data):
    call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
    study = Study.objects.get(slug="llmfao")
    chosen = {label: opinions_chosen(study, rater, "")[0].present() for rater, label in LABELS.items()}
    elo = replace(llmfao.ELO, robustness=False)
    board = llmfao.board_table(
        {label: rank_ratings(own.ratings(), own.names, elo) for label, own in chosen.items()}
    )
    print(f"\n{board}")
    assert board in README.read_text()
