"""A pool in a notebook: everything it holds is named, and nothing of it is taken for markup."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pool.pages import Cells

import sondage as sd
from sondage.pool import Pool


def shown(pool: Pool) -> dict[str, str]:
    return Cells(pool._repr_html_()).lines


def test_every_role_is_shown() -> None:
    pool = Pool.from_arrays(
        id=range(4),
        systems={
            "old": {"score": [-1.0, 0.0, 2.0, 3.5], "threshold": 1.0},
            "new": {"probability": [0.1, 0.2, 0.3, 0.9]},
        },
        groups={"region": ["n", "s", "s", "n"]},
        weight=[1.0, 2.0, 1.0, 2.0],
        cost=[1.0, 1.0, 4.0, 2.0],
        features={"length": [1, 2, 3, 4], "words": [0, 0, 1, 1]},
        opinions={"panel": [0.0, 0.5, 1.0, 1.0]},
        payload={"text": list("abcd")},
    )
    assert shown(pool) == {
        "system old": "score -1 to 3.5; prediction (cut at 1) 0: 50 %, 1: 50 %",
        "system new": "probability 0.1 to 0.9; prediction 0: 75 %, 1: 25 %",
        "labels": "[0, 1]",
        "group region": "2 levels ['n', 's']",
        "cost": "1 to 4, mean 2",
        "weight": "1 to 2, mean 1.5",
        "features": "2 ['length', 'words']",
        "opinion panel": "0 to 1",
        "payload": "['text']",
    }


def test_the_caption_counts_the_items() -> None:
    pool, _ = sd.datasets.synthetic_pool(n=1234, rng=0)
    assert Cells(pool._repr_html_()).others == ["Pool of 1,234 items"]


def test_labels_of_several_yes_or_no() -> None:
    probability = np.array([[0.9, 0.8, 0.1], [0.2, 0.1, 0.3]])
    pool = Pool.from_arrays(probability=probability, multilabel=True, labels=["a", "b", "c"])
    found = shown(pool)
    assert found["labels"] == "yes or no to each of 3 ['a', 'b', 'c']"
    assert found["system model"] == ("probability of 3 each 0.1 to 0.9; prediction yes to 1 of 3 on average")


def test_numbers() -> None:
    pool = Pool.from_arrays(prediction=[1.5, -2.0], std=[0.1, 0.25], labels="real")
    assert shown(pool) == {
        "system model": "prediction -2 to 1.5; standard deviation 0.1 to 0.25",
        "labels": "real numbers",
    }


def test_many_classes_show_the_commonest() -> None:
    pool = Pool.from_arrays(prediction=[*range(8), 3, 3], labels=range(30))
    said = shown(pool)["system model"]
    assert said == "prediction 3: 30 %, 0: 10 %, 1: 10 %, 2: 10 %, 4: 10 %, 5: 10 %, ..."


def test_a_calibrated_score_says_so() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=50)
    held = rng.normal(size=200)
    pool = Pool.from_arrays(
        score=score, threshold=0.0, calibrate="sigmoid", calibration=(held, (held > 0).astype(int))
    )
    assert ", calibrated (sigmoid); probability " in shown(pool)["system model"]


def test_a_system_that_came_later_is_shown() -> None:
    pool = Pool.from_arrays(id=["a", "b"], score=[0.2, 0.9], threshold=0.5)
    newer = pool.with_system("newer", {"id": ["b", "a"], "score": [0.4, 0.3]})
    assert "system newer" in shown(newer)


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x>', "a & b"])
def test_names_are_no_markup(evil: str) -> None:
    pool = Pool.from_arrays(
        systems={evil: {"prediction": [evil, "b"]}},
        labels=[evil, "b"],
        groups={evil + "g": [evil, "x"]},
        payload={evil + "p": ["x", "y"]},
    )
    page = pool._repr_html_()
    assert evil not in page
    assert any(evil in row[0] for row in Cells(page).rows)


def test_thresholds_of_several_labels_are_listed() -> None:
    probability = np.array([[0.1, 0.9], [0.4, 0.2]])
    pool = sd.Pool.from_arrays(probability=probability, multilabel=True, threshold=[0.3, 0.5])
    assert "prediction (cut at 0.3, 0.5) yes to 1 of 2" in shown(pool)["system model"]
