"""What error curves say of themselves, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from sondage.beliefs.error_curve.beyond_last_error import HONEST
from sondage.beliefs.error_curve.state import CurveState
from sondage.beliefs.error_curve.weak_models import weight_of_mean, wrong_where_surest
from sondage.pool.labels import LabelSpace
from sondage.wording import percent

ASSUMPTIONS = {
    "honest": "farther from the boundary than any error seen, the error rate does not rise again; exempt are "
    f"about {100 * HONEST.astray:.0f} % of the items of each true class, which may turn up anywhere",
    "tight": "farther from the boundary than any error seen, the odds of an error at least halve whenever "
    "the rank doubles, and fall faster in the outer half of a class",
}
"""What draws rest on, by what is held where no wrong prediction was seen."""
_WORTH_SAYING = 0.05
"""Chance that a model says nothing from which on it is spoken of."""
_WEAK = 0.25
"""Weight of the mean of a curve from which on a model is called weak: half of its surest are wrong."""


def remarks(state: CurveState, labels: LabelSpace) -> Iterator[str]:
    """Whether the model may say nothing at all, or is often wrong where it is surest."""
    chance = float(state.uninformative.chance)
    if chance >= _WORTH_SAYING:
        likely = f"{100 * chance:.0f} %" if chance < 0.99 else "over 99 %"
        yield (
            f"There is a {likely} chance that the model is hardly better than guessing, so that its errors "
            "do not thin out with rank."
        )
        return
    if not state.n.any():
        return
    wrong = wrong_where_surest(state.curve.rate, state.ranks, state.of_two)
    for name, share in zip(labels.values or (), () if wrong is None else wrong, strict=False):
        if weight_of_mean(share) >= _WEAK:
            yield (
                f"The model is weak: of the predictions of {name} that it is surer of, "
                f"{percent(float(share))} are probably wrong. So the study assumes that errors thin out more "
                "slowly with rank."
            )


def words_for_unseen(state: CurveState) -> str:
    """Where the number of wrong predictions not seen comes from."""
    level = state.uninformative.chance >= _WORTH_SAYING
    return "expected from the error curves" + (
        ", which are flat as far as the model is guessing" if level else ""
    )
