"""The default method, its design: labels go where curves of the error rate leave most to learn."""
