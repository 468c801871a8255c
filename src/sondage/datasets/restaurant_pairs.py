"""Fodor's and Zagat's restaurants: which records of two guides are the same place?"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from sondage.datasets._arguments import real_number
from sondage.errors import MissingExtra
from sondage.pool.pool import Pool
from sondage.types import Array, Floats

Record = dict[str, str]

# How much each field counts. The telephone number is left out: it all but identifies a restaurant
# (comparing nothing else finds 108 of the 112 matches and 7 false ones), which is too easy.
_FIELD_WEIGHTS = {"name": 0.5, "addr": 0.3, "city": 0.2}

# Scores closer than this are equal: the last bits of a sum may differ between processors, and must
# not decide on which side of the threshold a pair falls.
_SCORE_DECIMALS = 6


def restaurants(threshold: float = 0.8) -> tuple[Pool, dict[int | str, int]]:
    """All pairs of a Fodor's and a Zagat's restaurant record, with a string matcher's decision.

    Real entity resolution, and a needle in a haystack: 533 x 331 = 176,423 pairs, of which 112
    (1 in 1,575) are the same restaurant. The system under evaluation is what one writes first:
    Jaro-Winkler similarity of name, address and city, averaged with weights .5, .3 and .2, and "the
    same" from a threshold on. Weights and threshold are round numbers that a user might pick, not
    the best ones for these labels.

    | threshold | true positives | false positives | false negatives | precision | recall | F1 |
    |---|---|---|---|---|---|---|
    | 0.75 | 109 | 293 | 3 | .271 | .973 | .424 |
    | 0.8 (default) | 108 | 32 | 4 | .771 | .964 | .857 |
    | 0.85 | 104 | 4 | 8 | .963 | .929 | .945 |
    | 0.9 | 91 | 0 | 21 | 1 | .812 | .897 |

    The four matches missed at the default threshold have ranks 150, 432, 1,608 and 2,920 by score.

    Parameters
    ----------
    threshold
        A pair is predicted to match if its score is at least this, in [0, 1].

    Returns
    -------
    pool
        One item for each pair: id such as ``"f0534-z219"`` (Fodor's and Zagat's record numbers),
        ``score`` in [0, 1] (a similarity, not a probability), ``prediction`` 0 or 1, and as payload
        name, address and city of both records.
    truth
        1 for each pair of records of the same restaurant, 0 for the others, by item id.

    Notes
    -----
    Needs rapidfuzz: ``pip install 'sondage[demo]'``. The records were collected by Tejada, Knoblock
    and Minton (Information Systems 26, 2001) and are distributed with py_entitymatching; see
    ``data/restaurants/ATTRIBUTION.txt`` beside this file.

    Examples
    --------
    >>> from sondage.datasets import restaurants
    >>> pool, truth = restaurants()
    >>> len(pool), sum(truth.values())
    (176423, 112)
    >>> truth["f0534-z219"], truth["f0534-z220"]
    (1, 0)
    """
    threshold = real_number("threshold", threshold, "[0, 1]")
    fodors, zagats = _read("fodors.csv"), _read("zagats.csv")
    score = _similarity(fodors, zagats).ravel()
    ids = np.array([_pair_id(f["id"], z["id"]) for f in fodors for z in zagats])
    pool = Pool.from_arrays(id=ids, score=score, threshold=threshold, payload=_payload(fodors, zagats))
    truth: dict[int | str, int] = dict.fromkeys(ids.tolist(), 0)
    for match in _read("matches_fodors_zagats.csv"):
        truth[_pair_id(match["fodors_id"], match["zagats_id"])] = 1
    return pool, truth


def _read(name: str) -> list[Record]:
    source = files("sondage.datasets") / "data" / "restaurants" / name
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))


def _similarity(fodors: Sequence[Record], zagats: Sequence[Record]) -> Floats:
    """Weighted mean of the fields' similarities, one row for each of Fodor's records."""
    try:
        from rapidfuzz.distance import JaroWinkler
        from rapidfuzz.process import cdist
    except ImportError as error:
        raise MissingExtra("rapidfuzz", "demo", "the restaurant pool") from error
    score = np.zeros((len(fodors), len(zagats)))
    for field, weight in _FIELD_WEIGHTS.items():
        score += weight * cdist(
            [record[field] for record in fodors],
            [record[field] for record in zagats],
            scorer=JaroWinkler.normalized_similarity,
            dtype=np.float64,
        )
    return np.clip(np.round(score, _SCORE_DECIMALS), 0.0, 1.0)


def _pair_id(fodors_id: str, zagats_id: str) -> str:
    # Padded, so that ids as text sort like the record numbers.
    return f"f{int(fodors_id):04d}-z{int(zagats_id):03d}"


def _payload(fodors: Sequence[Record], zagats: Sequence[Record]) -> dict[str, Array]:
    """Both records of every pair. A column holds references to 533 or 331 strings, not copies."""
    columns: dict[str, Array] = {}
    for field in _FIELD_WEIGHTS:
        of_fodors = np.array([record[field] for record in fodors], dtype=object)
        of_zagats = np.array([record[field] for record in zagats], dtype=object)
        columns[f"fodors_{field}"] = np.repeat(of_fodors, len(zagats))
        columns[f"zagats_{field}"] = np.tile(of_zagats, len(fodors))
    return columns
