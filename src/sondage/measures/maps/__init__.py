"""The smooth side of measures: from averages of losses to values, with derivatives."""
