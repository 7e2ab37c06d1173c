"""What a forecast of the ensemble says of its members and of itself: the same measure, so that both can be compared."""

import pytest

from forecaster.models.catalogue import model
from tests.asking import asked, forecast
from tests.traces import horizon, panel, usual_rpm


def test_the_whole_is_scored_at_the_median_as_its_members_are() -> None:
    alone = forecast(model("ensemble", members=("naive_day",)), panel(usual_rpm(20)), asked(horizon(steps=24)))
    assert alone.record is not None
    assert alone.record.loss_ratio == pytest.approx(1.0, abs=0.02)  # medians are kept to three digits
    both = forecast(model("ensemble", members=("naive_day", "profile")), panel(usual_rpm(20)), asked(horizon(steps=24)))
    assert both.record is not None
    assert both.record.loss_ratio is not None
    assert both.record.loss_ratio < 1


def test_a_member_says_on_how_many_days_it_was_scored() -> None:
    said = forecast(
        model("ensemble", members=("naive_day", "profile"), watched=("ridge_slow",)), panel(usual_rpm(20)), asked(horizon(steps=24))
    )
    days = {member.name: member.days for member in said.members}
    assert days["ridge_slow"] == 1
    assert days["naive_day"] == days["profile"] > days["ridge_slow"]
    assert [member.weight_ratio for member in said.members if member.name == "ridge_slow"] == [0.0]


def test_without_the_naive_member_no_loss_is_told_against_it() -> None:
    said = forecast(model("profile"), panel(usual_rpm(20)), asked(horizon(steps=24)))
    assert said.record is not None
    assert said.record.loss_ratio is None
    assert [(member.loss_ratio, member.days > 0) for member in said.members] == [(None, True)]
