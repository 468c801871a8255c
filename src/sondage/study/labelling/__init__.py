"""From items asked to labels told: rounds, leases, answers, and the closed loop."""
