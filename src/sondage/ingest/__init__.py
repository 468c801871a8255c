"""From files, frames and models to the columns of a pool."""
