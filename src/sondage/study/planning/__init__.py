"""Planning: how many labels a study needs, before it has any and after a pilot."""
