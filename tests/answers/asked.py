"""What is asked of the product: studies, addresses, parameters of the API, commands."""

from typing import Final, NamedTuple


class Public(NamedTuple):
    """A study made of public data: where its files are below the folder of data, and its settings."""

    slug: str
    name: str
    files: str
    more: str = ""
    """Further arguments of ``import_data``."""


DEMOS: Final = ("demo", "demo-closed")
PUBLIC: Final = (
    Public("llmfao", "LLMFAO", "data/llmfao"),
    Public("llmbar", "LLMBar", "data/llmbar"),
    Public("infobench", "InFoBench", "data/infobench/easy_set.gpt-4.jsonl", "--judge checker"),
)
STUDIES: Final = (*DEMOS, *(study.slug for study in PUBLIC))
RATED: Final = ("demo", "llmfao")
"""Studies that are open while they are recorded, and then closed."""

COPY: Final = "rated"
"""The texts of the demo as a study that people and a judge rate: which pairs they get may change, so that no
numbers of the other studies come from their ratings.
"""

CAPS: Final = {"visitor": 2, "rater": 1, "operator": 1, "staff": 1}
"""Who looks, and at how many pages of one shape of a study (see ``shape``)."""

STARTS: Final = """
/ /rate/ /operate/ /judging/ /admin/ /methodology/ /healthz /api/v1/openapi.json
/account/token/ /account/password/ /account/remove-details/ /rate/rated/report/
/studies/nowhere/ /studies/demo/?raters=nobody /join/nowhere/ /operate/nowhere/ /nowhere/
"""
STARTS_CLOSED: Final = """
/studies/STUDY/ /operate/STUDY/ /rate/STUDY/ /studies/STUDY/comparisons/?search=the
/studies/STUDY/comparisons/?only=flipped /studies/STUDY/comparisons/?only=judges
/studies/STUDY/comparisons/?answer=unscored /studies/STUDY/comparisons/?answer=nothing
/studies/STUDY/comparisons/?rating=7-8 /studies/STUDY/comparisons/?sort=disagreement
"""
CLOSED: Final = r"^/\w+/[^/]+/($|comparisons|data|results|leaderboard|state|contestants/[^/]+/$)"
"""Addresses that answer otherwise once a study is closed."""

LEFT_OUT: Final = {
    r"^/static/": "files, which are no answers",
    r"^/account/sign-out/|^/admin/logout/": "ends the session",
    r"^/admin/(auth|axes|jsi18n|account|mfa|socialaccount|sites)/": "not ours: hashes, times of signing in",
    r"^/admin/leaderboard/": "lists how long every computation took; the pages and the API show the same",
    r"^/operate/backup": "all rows, with hashes of passwords and times",
    r"^/try/": "a pair drawn by lot",
    r"__fk__": "a gap that a script fills",
    r"__day=": "the admin's links to single days, of which there is another one every day",
}
"""Addresses that are not asked for, and why."""

PARAMETERS: Final = {
    "raters": (
        *("people", "judge:simulated-judge-a", "judge:simulated-judge-c", "judge:gpt-4"),
        *("group:simulated-judges", "nobody"),
    ),
    "category": ("coding", "-coding", "nothing"),
    "method": ("bradley-terry", "davidson", "ordinal", "elo-study", "magic"),
    "ties": ("off", "maybe"),
    "band": ("3-6", "9-1"),
    "level": ("80", "200"),
    "contestants": ("models",),
    "resample": ("games", "dice"),
    "adjust": ("length", "weight"),
    "pairwise": ("on",),
    "pairs": ("random", "all"),
    "ratings": ("expected", "none"),
    "criterion": ("overall", "nowhere"),
    "contestant": ("redshank-13b", "nowhere"),
    "against": ("dunnock-7b", "nowhere"),
    "power": ("90", "1"),
    "margin": ("20", "x"),
    "looks": ("every", "no"),
    "gold": ("labels", "people", "nobody"),
    "base": ("gpt-4-vanilla", "simulated-judge-c", "nobody"),
    "unscored": ("wrong", "right"),
    "published": ("llmbar", "nowhere"),
    "subset": ("Natural", "nowhere"),
    "missing": ("no", "script", "yes"),
    "contested": ("out", "in"),
    "beside": ("people", "nobody"),
    "turn": ("0", "x"),
    "feature": ("entropy", "nothing"),
    "variant": ("paper", "none"),
    "source": ("a server", "nothing"),
    "limit": ("2", "0"),
    "offset": ("1", "-1"),
    "after": ("10", "x"),
}
"""Values of each parameter of the API; another parameter has those of OTHERS."""

OTHERS: Final = ("1", "nothing")

PLACES: Final = {
    "first": ("redshank-13b", "nowhere"),
    "second": ("dunnock-7b", "nowhere"),
    "run_id": ("1", "99"),
    "number": ("1", "99"),
    "other": ("2",),
    "snapshot_id": ("1", "2", "99"),
    "kind": (
        *("standings", "matrices", "ratings", "length", "correlation", "agreement", "data", "trust"),
        *("requirements", "scores", "features", "nowhere"),
    ),
}
"""Values of each part of an address of the API; ``slug`` is a study or a judge."""

BODIES: Final = ({}, [], {"nonsense": 1}, {"study": "nowhere", "judge": "nobody", "assignment": "nothing"})
"""Sent to every address of the API that takes one."""

COMMANDS: Final = """
help
export STUDY --what all --format [csv|jsonl] --out OUT/STUDY-[csv|jsonl]
bundle STUDY --out OUT/bundle-STUDY.zip
agreement STUDY --rounds 50 --format [text|json]
anchor --study STUDY --judges nobody
compare --study STUDY --rounds 50 --format [table|json]
correlate STUDY --feature entropy --with people --format [table|json]
drfr STUDY --format [table|json]
find_names STUDY
meta_evaluate STUDY --rounds 50 --format [table|json]
plan --study STUDY [--gap 30|--format json]
scores STUDY --format [table|json]
standings STUDY --method [elo|bradley-terry|davidson|ordinal] --rounds 50 --format [table|json]
make_constraints made --from STUDY --kinds any --n 2 --dry-run
"""
"""Asked of every recorded study, one command a line; see COMMANDS_OF."""

COMMANDS_OF: Final = {
    "demo": """
export demo --what [contestants|raters|prompts|completions|pairs|comparisons|standings|leaderboard|arena|\
preferences|evalica] --format [json|csv|jsonl|parquet] --out OUT/demo-[contestants|raters|prompts|\
completions|pairs|comparisons|standings|leaderboard|arena|preferences|evalica].[json|csv|jsonl|parquet]
export demo --what all --format parquet --out OUT/all-parquet
export demo --what [preferences --conversational|arena --raters all|\
evalica --raters judge:simulated-judge-a --ties off|standings --method ordinal|\
comparisons --ties off|nothing|all]
bundle demo --with-texts --out OUT/bundle-texts.zip
bundle nowhere --out OUT/none.zip
recompute OUT/[bundle-demo.zip|bad.csv]
rank OUT/demo-[arena|evalica].[csv|jsonl] --method bradley-terry --rounds 100
rank OUT/demo-arena.csv --method ordinal --tie-band 3-6 --rounds 20 --format json
rank OUT/[bad|empty|none].csv
compare --study [demo|none] --rounds 100 --raters [judge:simulated-judge-b|nobody]
compare --study demo --rounds 100 --category coding
plan --study demo --between "Redshank 13B" "Dunnock 7B" --format [table|json]
plan --study demo --between A B
plan [--gap 30|--gap none|--gap 20 --power 90 --tie-share 0.4]
anchor --study demo --judges [simulated-judge-b|simulated-judge-a] --format [table|json]
standings demo --rounds 50 [--raters judge:simulated-judge-a|--raters group:simulated-judges|--raters nobody|\
--category coding|--category nothing|--tie-band 3-6|--ties off|--resample raters|--resample games|\
--adjust length|--criterion nothing|--contestants models]
standings nowhere
ablate demo --judges simulated-judge-a,simulated-judge-b,people [--json -|--ties on|--tie-band 3-6]
ablate [demo --judges nobody|demo --judges simulated-judge-a,simulated-judge-b] --rounds 50
agreement demo --rounds 50 --raters judge:simulated-judge-b [--against people|--unmirrored|--ties off|\
--against judge:simulated-judge-a --format json|--category coding|--tie-band 3-6|--against nobody]
agreement nowhere
decide demo [Redshank|"Redshank 13B"] "Dunnock 7B" --format [text|json]
decide demo redshank-13b dunnock-7b [--margin 20|--raters judge:simulated-judge-a|--category coding|\
--ties off|--method bradley-terry|--level 90|--k 4|--every-look|--margin x|--raters nobody]
import_data [demo OUT/demo-jsonl|copy OUT/demo-csv|demo OUT/bad.csv] --dry-run
protocols
protocols [--json|--markdown|likert --write OUT/likert|nothing]
protocols [likert|likert-explanation-first|likert-debias|scores|vanilla|rules|cot|metrics|reference|\
metrics-reference|swap|swap-cot|chateval|rating|rubric|fine-grained-diff|multi-role|multi-aspect-two|\
multi-aspect-single|strong-reference|prepair|cot-self-consistency|protocol-consistency|\
protocol-consistency-released|arena-hard|wildbench|alpaca-eval] [--json|]
find_names nowhere
judge [demo --judge strict --dry-run|demo --judge nobody|demo|--cancel 99]
standings rated --raters judge:strict --rounds 50
agreement rated --rounds 50
generate demo --contestant [lapwing-34b --dry-run|nobody|lapwing-34b --probe]
traces demo --contestant [lapwing-34b --dry-run|nobody]
local_features demo --contestant [lapwing-34b|nobody] --model OUT/none
check_constraints OUT/[texts.jsonl|bad.csv|none]
make_constraints made --kinds sum --n 2 --dry-run
make_constraints [made --kinds nothing|made --from nowhere --negate]
release demo --version [1.0|2.0 --author "Ada <0000-0002-1825-0097>" --format json|3.0 --doi nothing]
refresh nowhere
backup AWAY/backup.zip
restore AWAY/backup.zip [--check|]
restore OUT/bad.csv
worker --queues nothing
api_token [the-rater --list|nobody]
anonymise_rater nobody --yes
load_demo
""",
    "demo-closed": """
drfr demo-closed [--raters people|--missing no|--missing script|--raters nobody]
scores demo-closed [--raters people|--turn 1|--raters nobody]
meta_evaluate demo-closed --rounds 50 [--judges simulated-judge-c|--gold people --least 2|--unscored wrong|\
--ties tie|--matrix|--gold nobody|--judges nobody|--base simulated-judge-c]
correlate demo-closed --feature [entropy|nothing] --with [judge:simulated-judge-c|scores:people|nobody]
import_data demo-closed OUT/[features|more].jsonl --dry-run
make_constraints twins --from demo-closed --negate --dry-run
recompute OUT/bundle-demo-closed.zip
""",
    "llmfao": """
rank DATA/evalica/[food|simple].csv --method [elo|bradley-terry|davidson|ordinal] --format [table|json]
rank OUT/votes.[csv|json|jsonl] --rounds 50 --format json
rank OUT/votes.csv --rounds 50 --format json [--ties off|--resample games|--resample raters|--k 4|--seed 7|\
--interval 90|--pairwise|--no-bootstrap|--method ordinal --adjust raters]
rank DATA/llmfao/[crowd|gpt3|gpt4-crowd]-comparisons.csv --format json --intervals sandwich --method \
[bradley-terry|davidson|ordinal]
rank DATA/evalica/food-golden.csv
rank DATA/evalica/food.csv [--k none|--method magic|--rounds 0|--adjust length|--tie-band 3-6]
compare [DATA/evalica/food.csv|DATA/llmfao/gpt4-crowd-comparisons.csv] --rounds 100 --format [table|json]
plan [OUT/votes.csv --gap 30 --ties off|DATA/evalica/food.csv --between Pizza Sushi]
anchor OUT/votes.csv --judges [gpt-4|gpt-4 --format json|gpt-4 --ties off --interval 90|nobody]
anchor --study llmfao --judges gpt-4,gpt-3.5 --format [table|json]
export llmfao --what [comparisons|standings|leaderboard|arena|preferences|evalica|raters]
standings llmfao --method ordinal --adjust length,markdown --intervals sandwich --format json
standings llmfao --rounds 50 --format json [--raters judge:gpt-4|--raters judge:gpt-3.5|--no-bootstrap|\
--resample prompts-and-raters]
ablate llmfao --judges gpt-4,gpt-3.5 --rounds 50
import_data trial DATA/[vicuna-blog-eval|self-instruct|fastchat|infobench|evalica|\
llmbar/Natural/dataset.json|llmbar/Adversarial/Manual/dataset.json] --dry-run
import_data trial DATA/evalica/food.csv --format table --kind comparisons --map first=left --map \
second=right --map winner=winner --set rater=x --dry-run
""",
    "llmbar": """
meta_evaluate llmbar --rounds 50 --as-published llmbar [--base gpt-4-vanilla|--matrix] --format [table|json]
meta_evaluate llmbar --rounds 50 [--judges gpt-4-vanilla,gpt-4-swap|--unscored random|--base nobody]
import_data trial DATA/../judge-data/[llmbar|pandalm|wildbench|reife|infobench] --dry-run
import_data trial DATA/../judge-data/infobench --judge gpt-4 --dry-run
""",
    "infobench": """
drfr infobench [--raters judge:checker|--missing no|--missing script --format json]
import_data trial DATA/infobench/invalid_answers.qwen2.5-7b.jsonl --judge qwen --dry-run
""",
}
"""Asked where the study is recorded. [a|b] is first a, then b; the same brackets again in a line are the same
choice."""

LAST: Final = """
anonymise_rater the-rater --yes
api_token the-operator --list
"""
"""Asked when all else is done, as it changes what pages show."""
