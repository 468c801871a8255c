"""The default method: a smooth curve of the error rate against the rank from the decision boundary."""
