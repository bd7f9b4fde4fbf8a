"""The checks of a model's JSON form are shown forms and readers with one fault each, and must reject them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from impl.integer_model import IntegerModel, from_json, to_json
from impl.model_files import load
from tests.breakable_decoders import rules
from verify.decode import form_checks
from verify.decode.form_checks import check_form, check_refused_forms, check_said_values

MODEL = load("random-1-16")


def takes_anything(data: Any) -> IntegerModel:
    """Any form for a model."""
    return MODEL


def takes_nothing(data: Any) -> IntegerModel:
    """Refuses every form, at a place that is right for many."""
    raise ValueError("at the top level: no model")


def clips(data: Any) -> IntegerModel:
    """Takes elements beyond int8 for the nearest that fit."""
    data = {**data, "tensors": {name: list(rows) for name, rows in data["tensors"].items()}}
    first = data["tensors"]["key"][0]
    if isinstance(first, list) and type(first[0]) is int:
        data["tensors"]["key"][0] = [int(np.clip(first[0], -128, 127)), *first[1:]]
    return from_json(data)


def says_no_place(data: Any) -> IntegerModel:
    """Refuses what is wrong, and does not say where."""
    try:
        return from_json(data)
    except ValueError:
        raise ValueError("no model") from None


def reads_wide(data: Any) -> IntegerModel:
    """Elements of 16 bits."""
    model = from_json(data)
    return replace(model, key=model.key.astype(np.int16))


@pytest.mark.parametrize("reader", [takes_anything, takes_nothing, clips, says_no_place])
def test_a_reader_of_other_forms_breaks_model(
    monkeypatch: pytest.MonkeyPatch, reader: Callable[[Any], IntegerModel]
) -> None:
    assert rules([check_refused_forms(MODEL)]) == set()
    monkeypatch.setattr(form_checks, "from_json", reader)
    assert rules([check_refused_forms(MODEL)]) == {"DEC-MODEL"}


@pytest.mark.parametrize("reader", [takes_nothing, reads_wide])
def test_a_form_that_gives_another_model_breaks_model(
    monkeypatch: pytest.MonkeyPatch, reader: Callable[[Any], IntegerModel]
) -> None:
    monkeypatch.setattr(form_checks, "from_json", reader)
    assert rules([check_form(MODEL)]) == {"DEC-MODEL"}


def test_a_form_with_a_number_elsewhere_breaks_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_checks, "to_json", lambda model: {**to_json(model), "residual": model.residual + 1})
    assert rules([check_form(MODEL)]) == {"DEC-MODEL"}


def test_a_refusal_that_repeats_all_of_a_long_value_breaks_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules([check_said_values(MODEL)]) == set()
    monkeypatch.setattr("impl.integer_model._short", str)
    assert rules([check_said_values(MODEL)]) == {"DEC-MODEL"}
