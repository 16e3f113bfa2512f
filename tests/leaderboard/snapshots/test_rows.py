import numpy as np

from leaderboard.snapshots.rows import Rows


def test_columns_are_made_when_they_are_looked_at_and_only_once():
    made = []

    def tens():
        made.append("tens")
        return np.array([10, 20, 30])

    rows = Rows(3, {"one": np.array([1, 2, 3]), "ten": tens})
    some = rows[np.array([True, False, True])]
    assert (len(rows), len(some), rows.names, made) == (3, 2, ("one", "ten"), [])
    assert some["one"].tolist() == [1, 3]
    assert made == []
    assert some[np.array([1])]["ten"].tolist() == [30]
    assert rows["ten"].tolist() == [10, 20, 30]
    assert made == ["tens"]


def test_other_columns_leave_the_rows_as_they_were():
    rows = Rows(2, {"one": np.array([1, 2]), "ten": np.array([10, 20])})
    other = rows.replaced(one=np.array([3, 4]))
    assert [other[name].tolist() for name in other.names] == [[3, 4], [10, 20]]
    assert rows[1:]["one"].tolist() == [2]
