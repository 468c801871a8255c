"""An LLM judge: how often would people agree with the verdicts that a language model gave?

    python examples/llm_judge.py

A judge graded 12,000 answers of a chat assistant as good, partly right or wrong, with a probability for each
verdict. People check 400 of them. The data are made up: the judge is kinder than people are, above all to
answers about law.
"""

import numpy as np

import sondage as sd

VERDICTS = ["good", "partly", "wrong"]
TOPICS = ["cooking", "law", "travel"]


def graded_answers(n: int = 12_000, seed: int = 0) -> tuple[sd.Pool, dict[int | str, str]]:
    """The pool that the judge graded, and what people would say of each answer if asked."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(TOPICS, n, p=[0.5, 0.2, 0.3])
    merit = rng.normal(1.2, 1.3, n)  # what people see
    kindness = np.where(topic == "law", 0.9, 0.3)
    seen = merit + kindness + rng.normal(0, 0.5, n)  # what the judge sees
    people = np.digitize(merit, [1.0, 0.0])  # 0 good, 1 partly, 2 wrong
    logits = np.stack([3 * (seen - 1.0), np.zeros(n), -3 * seen], axis=1)
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    pool = sd.Pool.from_arrays(probability=chance, labels=VERDICTS, groups={"topic": topic})
    return pool, {i: VERDICTS[k] for i, k in enumerate(people.tolist())}


def main() -> None:
    pool, people = graded_answers()

    # Accuracy of the judge's verdicts, with people as the truth, is their agreement.
    study = sd.create_study(pool, "accuracy", budget=400, rng=1)
    study.run(people)
    print(study.estimate())

    # Where does the judge fail? From the same labels, by topic, and by verdict.
    print(study.estimate(by="topic"))
    print(study.estimate(sd.measures.Recall(average=None)))

    # Agreement beyond chance, and how many answers people would call good.
    print(study.estimate(["cohen_kappa", sd.measures.Prevalence(pos_label="good")]))

    # The labels with their weights, for a report or a recalibration of the judge elsewhere.
    print(study.labels().head(3))


if __name__ == "__main__":
    main()
