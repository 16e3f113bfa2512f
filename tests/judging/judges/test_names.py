from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from judging.judges.services import JudgeError, create_judge
from tests.factories import judge_with


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_one_name_at_once_one_gets_it() -> None:
    together = Barrier(2)

    def is_made(slug: str, name: str) -> bool:
        together.wait(10)
        try:
            create_judge(slug, name, judge_with(model=slug))
        except JudgeError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(is_made, ("a", "b"), ("Heron", "heron"))) == [False, True]
