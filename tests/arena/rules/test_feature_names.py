"""Names of features."""

import pytest

from arena.rules.feature_names import FEATURES, WAYS, Named, Variant, bound_names, fault, value_fault


def test_names_come_apart_and_are_put_into_words() -> None:
    found = Named.read("entropy_low.full.calibrated")
    assert found == ("entropy", "_low", ("full", "calibrated"))
    assert (found.name, found.feature) == ("entropy.full.calibrated", FEATURES["entropy"])
    assert found.label == "Entropy, prompt and answer, less the surprise at the reference"
    assert Named.read("our_own.second").label == "our_own.second"
    assert bound_names("entropy.full") == ("entropy_low.full", "entropy_high.full")


def test_every_known_name_is_allowed_and_no_bound() -> None:
    for name in FEATURES:
        for taken in (name, *(f"{name}.{way}" for way in WAYS)):
            assert not fault(taken, Variant.PAPER)
            assert not any(fault(bound, Variant.BOUNDS) for bound in bound_names(taken))


@pytest.mark.parametrize(
    ("name", "variant", "why"),
    [
        ("Entropy", "paper", "cannot name a feature"),
        ("entropy.", "paper", "cannot name a feature"),
        ("x" * 101, "paper", "cannot name a feature"),
        ("entropy_low", "paper", "is a bound by its name"),
        ("entropy", "bounds", "give entropy_low and entropy_high"),
    ],
)
def test_names_that_no_feature_can_have(name: str, variant: str, why: str) -> None:
    assert why in fault(name, variant)


@pytest.mark.parametrize(
    ("name", "variant", "value", "possible"),
    [
        ("mean_logprob", "paper", 0.0, True),
        ("mean_logprob", "paper", 1e-9, True),
        ("mean_logprob.full", "paper", 0.1, False),
        ("entropy", "paper", -0.1, False),
        ("entropy", "released", -0.1, True),
        ("entropy_low", "bounds", -0.1, False),
        ("entropy.calibrated", "paper", -0.1, True),
        ("our_own", "paper", -0.1, True),
    ],
)
def test_the_sign_of_values(name: str, variant: str, value: float, possible: bool) -> None:
    assert (not value_fault(name, variant, value)) is possible
