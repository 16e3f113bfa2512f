"""Who may do what in a study."""

import pytest
from django.contrib.auth.models import AnonymousUser

from arena.models import Membership, Role, Study
from arena.pages import permissions
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make.make_study()


def member(study: Study, role: Role, **user: object) -> object:
    rater = make.make_member(study, user=make.make_user(**user))
    Membership.objects.filter(rater=rater).update(role=role)
    return rater.user


@pytest.mark.parametrize("role", Role)
def test_a_member_has_the_role_of_the_membership(study: Study, role: Role) -> None:
    user = member(study, role)
    assert permissions.role_in(user, study) is role
    assert permissions.can_operate(user, study) is (role is Role.OPERATOR)
    assert permissions.role_in(user, make.make_study()) is None


def test_nobody_strangers_and_disabled_accounts_have_no_role(study: Study) -> None:
    gone = member(study, Role.OPERATOR, is_active=False)
    disabled_staff = make.make_user(is_staff=True, is_active=False)
    for user in (AnonymousUser(), make.make_user(), gone, disabled_staff):
        assert permissions.role_in(user, study) is None
        assert not permissions.can_operate(user, study)
        assert not permissions.can_view(user, study)
        assert not permissions.operable(user).exists()
        assert not permissions.viewable(user).exists()


def test_staff_may_everything_and_a_private_board_is_open_to_viewers_and_operators(study: Study) -> None:
    staff = make.make_user(is_staff=True)
    assert permissions.can_operate(staff, study)
    assert permissions.can_view(staff, study)
    assert list(permissions.operable(staff)) == list(permissions.viewable(staff)) == [study]
    seeing = [role for role in Role if permissions.can_view(member(study, role), study)]
    assert seeing == [Role.VIEWER, Role.OPERATOR]


@pytest.mark.parametrize("visibility", Study.Visibility)
@pytest.mark.parametrize("role", [None, *Role])
def test_the_lists_say_what_the_questions_say(role: Role | None, visibility: str) -> None:
    study, other = make.make_study(visibility=visibility), make.make_study()
    user = member(study, role) if role else make.make_user()
    for one in (study, other):
        assert permissions.viewable(user).filter(pk=one.pk).exists() == permissions.can_view(user, one)
        assert permissions.operable(user).filter(pk=one.pk).exists() == permissions.can_operate(user, one)
