"""A joint region in words: the values that it allows, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sondage.report.page import Page, Section

if TYPE_CHECKING:
    from sondage.intervals.joint_region import Region


def region_page(region: Region) -> Page:
    """Its level and values, then the least and greatest of each."""
    flat = "" if region.rank == len(region.names) else f" of dimension {region.rank}"
    lead = f"{100 * region.confidence_level:g}% region{flat} for {', '.join(region.names)}"
    level = f"{100 * region.confidence_level:g}%"
    holds = f"In {level} of samples it holds all the true values at once"
    if region.guarantee == "posterior":
        holds = f"If what the estimate assumes is right, it holds all values at once with a chance of {level}"
    low, high = region.limits
    rows = tuple(
        (name, f"{value:.4f}", f"{a:.4f}", f"{b:.4f}")
        for name, value, a, b in zip(region.names, region.centre, low, high, strict=True)
    )
    return Page((lead, holds), (Section("", (), ("measure", "centre", "least", "greatest"), rows),))
