"""Commands that are refused, each with one sentence, and the files of ratings that they are given."""

from typing import Final

FILES: Final = {
    "votes.csv": "left,right,winner,prompt,rater\na,b,left,p,robot\nb,c,right,q,Ada\na,c,tie,p,Ada\n",
    "scaled.csv": "model_a,model_b,rating,points\nx,y,3,8\nx,y,7,8\n",
    "empty.csv": "left,right,winner,prompt,rater\n",
    "alone.csv": "left,right,winner\nx,x,left\n",
    "bad.csv": "left,right,winner\nx,y,z\n",
    "no-prompts.csv": "left,right,winner,rater\na,b,left,robot\na,b,left,Ada\n",
    "no-raters.csv": "left,right,winner,prompt\na,b,left,p\n",
}

COMMANDS: Final = """
ablate demo-closed --judges [simulated-judge-c|simulated-judge-c,nobody|people,people]
ablate [none|demo] --judges simulated-judge-a,simulated-judge-b --ties maybe
agreement demo-closed [--raters judge:nobody|--against people|--category none|--tie-band 2-7x|--ties maybe|\
--tie-band 3-6 --ties off|--rounds 0|--format table]
anchor OUT/votes.csv --judges [nobody|robot --without nobody|" , "|robot --ties maybe|robot --format xml|\
robot --interval much|robot --interval 100|robot --study x|robot,Ada]
anchor OUT/[empty|no-raters|no-prompts|none].csv --judges robot
anchor --study [demo-closed|demo-closed --without x|nowhere] --judges nobody
compare [--study ""|nowhere.csv|--interval 0|OUT/votes.csv --raters judge:x|OUT/votes.csv --category x|\
OUT/votes.csv --study demo]
correlate demo-closed --feature [nothing|entropy --variant x|entropy --turn x] --with people
decide demo-closed [a wren-8b|wren-8b wren-8b|wren-8b heron-24b --margin much|\
wren-8b heron-24b --raters judge:x|wren-8b heron-24b --method ordinal|wren-8b heron-24b --level 100]
decide nope a b
drfr demo-closed [--missing yes|--raters nobody|--format csv]
export demo-closed --what [nothing|standings --format xml|comparisons --ties off|all|arena --raters nobody]
meta_evaluate demo-closed [--judges nobody|--base nobody|--gold group:x|--gold everybody|\
--gold people --least 0|--unscored lost|--as-published reife|--interval 100|--seed=-1]
meta_evaluate [nothing|demo]
plan OUT/votes.csv [--between a d|--between a a|--gap wide|--gap 30 --raters-per-prompt 1.5|--gap -3|\
--gap 30 --power 20|--gap 30 --ties maybe|--gap 30 --format xml|--gap 30 --prompt-sd 3|\
--gap 30 --raters people|--gap 30 --study demo]
plan [--between a b --gap 30|--gap 30 --raters people|--gap 30 --raters-per-prompt 0|--gap 400|--gap 0|\
--gap 30 --ties off|--gap 30 --prompt-sd 9 --rater-correlation 0|--gap 30 --contestants x]
plan OUT/[votes.csv|no-prompts.csv --gap 30|none.csv --gap 30]
rank OUT/votes.csv [--ties maybe|--method glicko|--format xml|--k 0|--k much|--k nan|--rounds 0|--rounds 1.5|\
--seed=-1|--interval 100|--interval 1e-300|--k 1e308|--resample days|--intervals wald|--tie-band wide|\
--tie-band 2-2|--tie-band 2-2 --ties off|--method ordinal --ties off|--adjust length|\
--method elo-study --intervals sandwich]
rank OUT/scaled.csv --tie-band [3-5|1-8|0-9]
rank OUT/[empty|alone|bad|none].csv
scores demo-closed [--turn one|--turn 7|--format xml|--raters nobody]
standings demo-closed [--raters judge:nobody|--raters group:nobody|--raters everyone|--category maths|\
--ties maybe|--rounds 0]
standings nowhere
"""
"""One a line; [a|b] is first a, then b."""
