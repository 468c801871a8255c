"""Items as a file for whoever labels: id, what to show, and an empty column for the label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sondage.ingest.answers import DOCUMENT, QUERY, payload_names
from sondage.pool.pool import Pool
from sondage.study.labelling.asking import Item


def batch_columns(pool: Pool, items: Sequence[Item]) -> dict[str, list[Any]]:
    """The columns ``id``, the payload and an empty ``label``, as ``tell`` reads them.

    Of queries with documents, ``query`` and ``document`` in place of ``id``.
    """
    shown = {there: [one.payload[here] for one in items] for there, here in payload_names(pool).items()}
    ids: list[Any] = [one.id for one in items]
    each = {"id": ids}
    if pool.parts is not None:
        each = {name: [one[place] for one in ids] for place, name in enumerate((QUERY, DOCUMENT))}
    return {**each, **shown, "label": [None] * len(items)}
