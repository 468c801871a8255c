"""Record linkage: how good is a matcher of two restaurant guides, when 1 pair in 1,575 is a match?

    python examples/record_linkage.py

Needs pip install 'sondage[demo]'. The answers come from a file that ships with the package; in your own
study a person reads `item.payload`, the two records side by side, and says whether they are one place.
"""

import sondage as sd


def main() -> None:
    pool, answers = sd.datasets.restaurants()
    print(pool)

    study = sd.create_study(pool, "f1", budget=300, rng=0)
    while study.remaining > 0:
        items = study.ask(min(50, study.remaining))
        if study.n_labels == 0:
            print("A person would see:", items[0].payload)
        study.tell({item.id: answers[item.id] for item in items})
        estimate = study.estimate()
        print(f"{study.n_labels} labels: F1 from {estimate.ci.low:.3f} to {estimate.ci.high:.3f}")

    # The same labels answer further questions.
    print(study.estimate())
    print(study.estimate(["precision", "recall"]))
    print(study.explain())


if __name__ == "__main__":
    main()
