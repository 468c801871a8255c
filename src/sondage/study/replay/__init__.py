"""From a journal's events to what a study knows."""
