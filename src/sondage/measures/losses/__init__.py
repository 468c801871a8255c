"""The linear side of measures: what an item contributes to each average under each label."""
