"""Groups of a pool by the labels so far."""
