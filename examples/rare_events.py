"""Rare events with people in the loop: can an alarm be trusted when 1 payment in 500 is fraud?

    python examples/rare_events.py

Two investigators take batches from one study that lives in a file. One is called away in the middle of a
batch, some cases cannot be decided, the machine restarts, and the study ends as soon as it is sure that at
least 3 alarms in 4 are fraud. The people and their payments are simulated.
"""

import tempfile
from itertools import cycle
from pathlib import Path

import sondage as sd

BATCH = 20


def investigate(study: sd.Study, name: str, fraud: dict[int | str, int], patience: int = BATCH) -> None:
    """One person takes a batch, answers the first cases of it and hands back the others."""
    items = study.take_open(BATCH, annotator=name) or study.ask(BATCH, annotator=name)
    for item in items[:patience]:
        undecidable = int(item.id) % 15 == 0
        study.tell(item.id, sd.CANNOT_TELL if undecidable else fraud[item.id], annotator=name)
    study.release(annotator=name)


def main() -> None:
    pool, fraud = sd.datasets.synthetic_pool(n=100_000, prevalence=0.002, separation=5.0, rng=3)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        storage = f"sqlite:///{Path(folder) / 'fraud.db'}"
        study = sd.create_study(pool, "precision", budget=500, storage=storage, name="fraud", rng=0)
        investigate(study, "ann", fraud)
        investigate(study, "ben", fraud, patience=10)  # called away: 10 cases are left open
        print(study)

        # The next day, in another process: nothing is lost, and open cases are answered first.
        study = sd.load_study(storage, name="fraud", pool=pool)
        enough = sd.Above(0.75)
        for name in cycle(["ann", "ben"]):
            investigate(study, name, fraud)
            decision = study.should_stop(enough)
            if decision.stop or not study.remaining:
                break
        print(decision.why)
        print(study.estimate(interval="calibrated"))  # what the decision rests on
        print(study.estimate("recall"))  # these labels cannot say how much fraud is missed, and it says so


if __name__ == "__main__":
    main()
