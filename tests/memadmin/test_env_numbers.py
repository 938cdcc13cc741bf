import pytest
from django.core.exceptions import ImproperlyConfigured

from memadmin import env


def test_a_number_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMADMIN_SETTLE_MINUTES", "2.5")
    assert env.number("MEMADMIN_SETTLE_MINUTES", 30) == 2.5


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity", "1e999", "soon"])
def test_what_is_no_number_of_anything_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MEMADMIN_SETTLE_MINUTES", value)
    with pytest.raises(ImproperlyConfigured, match="must be a number"):
        env.number("MEMADMIN_SETTLE_MINUTES", 30)
