"""From labels to estimates: what is asked, how it is worked out, and the result."""
