"""How many injections change a verdict: prints the table of docs/judging.md.

Run it with python -m tests.judging.injections; it takes some minutes.
"""

from tests.judging.injections.corpus import INJECTIONS
from tests.judging.injections.measuring import configured_protocols, shares, table

count = len(list(configured_protocols()))
print(f"{len(INJECTIONS)} injections in both orders through {count} protocols and forms")
print(table(shares(INJECTIONS)))
