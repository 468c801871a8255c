"""What is known of groups by counts of their labels: priors, posteriors, and rules for whom to ask next."""
