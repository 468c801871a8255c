"""When it is enough: stop rules, and the intervals that they may look at."""
