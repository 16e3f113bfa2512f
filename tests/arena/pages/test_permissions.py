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


@pytest.mark.parametrize("visibility", Study.Visibility)
@pytest.mark.parametrize("role", Role)
def test_a_member_may_what_the_role_in_this_study_says(role: Role, visibility: str) -> None:
    study, other = make.make_study(visibility=visibility), make.make_study()
    user = member(study, role)
    sees = visibility == "public" or role in (Role.VIEWER, Role.OPERATOR)
    assert list(permissions.viewable(user)) == [study] * sees
    assert list(permissions.operable(user)) == [study] * (role is Role.OPERATOR)
    assert permissions.can_operate(user, study) is (role is Role.OPERATOR)
    assert not permissions.can_operate(user, other)


def test_nobody_strangers_and_disabled_accounts_see_what_is_public(study: Study) -> None:
    public = make.make_study(visibility="public")
    gone = member(study, Role.OPERATOR, is_active=False)
    disabled_staff = make.make_user(is_staff=True, is_active=False)
    for user in (AnonymousUser(), make.make_user(), gone, disabled_staff):
        assert not permissions.can_operate(user, study)
        assert not permissions.operable(user).exists()
        assert list(permissions.viewable(user)) == [public]


def test_staff_may_everything(study: Study) -> None:
    staff = make.make_user(is_staff=True)
    assert permissions.can_operate(staff, study)
    assert list(permissions.operable(staff)) == list(permissions.viewable(staff)) == [study]
