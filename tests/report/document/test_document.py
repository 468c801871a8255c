"""A report is one file that says what the study says, for every kind of study."""

from __future__ import annotations

import errno
import itertools
import re
import shutil
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.report.document.figures import Axes

EVIL = "<script>alert('x')</script> & | `x` <img src=http://example.com/x.png>"


class Reader(HTMLParser):
    """Tags that are open, tags that occur, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("meta", "line", "polyline", "polygon", "circle", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(path: Path) -> Reader:
    found = Reader()
    found.feed(path.read_text(encoding="utf-8"))
    assert found.open == []
    return found


@pytest.fixture(scope="module")
def world() -> tuple[sd.Pool, dict[str, int]]:
    rng = np.random.default_rng(0)
    n = 3000
    truth = rng.random(n) < 0.15
    score = np.clip(0.5 * truth + 0.5 * rng.random(n), 0, 1)
    frame = pd.DataFrame(
        {
            "key": [f"k{i}" for i in range(n)],
            "score": score,
            "region": rng.choice(["north", "south <b>"], n),
            "shown": [f"{EVIL} {i}" for i in range(n)],
        }
    )
    pool = sd.Pool.from_frame(
        frame, id="key", score="score", threshold=0.6, groups=["region"], payload=["shown"]
    )
    return pool, {f"k{i}": int(y) for i, y in enumerate(truth)}


def labelled(world: Any, n: int, *, measure: Any = "f1", **options: Any) -> sd.Study:
    pool, labels = world
    study = sd.create_study(pool, measure, rng=1, **options)
    while study.n_labels < n:
        for item in study.ask(min(40, n - study.n_labels)):
            study.tell(item.id, labels[item.id], annotator="Zoë <i>")
    return study


@pytest.mark.parametrize("design", ["auto", "uniform", "ais", "sequential", "poisson"])
@pytest.mark.parametrize("n", [0, 5, 150])
def test_a_report_needs_nothing_else_and_holds_the_numbers(
    world, n: int, design: str, tmp_path: Path
) -> None:
    """No script, no request, all tags closed, everything from outside escaped; and it is quick and small."""
    study = labelled(world, n, design=design)
    begun = time.perf_counter()
    path = study.report(tmp_path / "report.html")
    assert time.perf_counter() - begun < 30  # 3 s on a quiet machine
    assert path.stat().st_size < 300_000
    found = read(path)
    assert not found.tags & {"script", "img", "link", "iframe", "b", "i", "object"}
    assert not [one for one in found.attributes if one[0] in ("src", "href", "onclick")]
    assert "@import" not in path.read_text()
    assert "url(" not in path.read_text()
    if not n:
        assert "No answer yet" in found.text
        assert "How good is the model on these" in found.text
        assert "Examples of wrong predictions" not in found.text
        return
    estimate = study.estimate()
    if estimate.defined:
        assert f"{estimate.value:.3f}" in found.text or f"{estimate.value:.4f}" in found.text
        assert f"{estimate.ci.low:.3f}" in found.text
    assert study.pool.fingerprint in found.text
    assert str(study.parts.seed) in found.text
    for one in (*estimate.assumptions, *estimate.warnings):
        assert one in found.text


def test_what_is_shown_of_wrong_predictions_is_wrong_and_escaped(world, tmp_path: Path) -> None:
    study = labelled(world, 150)
    text = study.report(tmp_path / "report.html").read_text()
    chapter = text.partition("Examples of wrong predictions")[2].partition("<h2>")[0]
    shown = re.findall(r'data-name="id">(k\d+)<', chapter)
    labels = study.labels()
    told = dict(zip(labels["id"], labels["label"], strict=True))
    rows = {id: study.pool.row_of(id) for id in shown}
    assert shown
    for id in shown:
        predicted = int(study.pool.rows(np.array([rows[id]])).prediction("model")[0])
        assert predicted != told[id]
    assert "&lt;script&gt;alert" in chapter
    assert "<script" not in chapter


def test_the_same_study_gives_the_same_file(world, tmp_path: Path) -> None:
    study = labelled(world, 60)
    first, second = (study.report(tmp_path / f"{k}.html").read_bytes() for k in (1, 2))
    assert first == second


def test_a_report_reads_and_leaves_the_study_alone(world, tmp_path: Path) -> None:
    study = labelled(world, 60)
    before = study.journal.events(study.name)
    study.report(tmp_path / "report.html")
    assert study.journal.events(study.name) == before


def test_markdown_has_the_same_words_and_no_markup_from_outside(world, tmp_path: Path) -> None:
    study = labelled(world, 150)
    text = study.report(tmp_path / "report.md").read_text()
    assert text.startswith("# Study")
    assert f"{study.estimate().value:.3f}" in text
    assert "<script" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    for line, following in itertools.pairwise(lines):
        if following.startswith("| ---"):
            assert line.count("|") == following.count("|")
    headings = re.findall(r"<h2>(.*?)</h2>", study.report(tmp_path / "report.html").read_text())
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings


def test_an_undefined_estimate_says_why(world, tmp_path: Path) -> None:
    pool, _ = world
    study = sd.create_study(pool, "recall", design="uniform", rng=1)
    study.tell({item.id: 0 for item in study.ask(8)})
    assert not study.estimate().defined
    text = read(study.report(tmp_path / "report.html")).text
    assert f"recall undefined: {study.estimate().why}" in text
    assert "What would change the answer" not in text


def test_what_could_not_be_labelled_is_not_said_to_matter_where_it_does_not(world) -> None:
    pool, _ = world
    study = sd.create_study(pool, "precision", design="uniform", rng=1)
    items = study.ask(30)
    said = [int(pool.rows(np.array([pool.row_of(item.id)])).prediction("model")[0]) for item in items]
    hidden = said.index(0)  # a negative one, of which precision knows nothing
    study.tell({item.id: None if k == hidden else said[k] for k, item in enumerate(items)})
    warned = str(study.estimate("precision").warnings)
    assert "could not be labelled" in warned
    assert "anywhere from" not in warned


def test_every_kind_of_study_has_a_report(world, tmp_path: Path) -> None:
    """Several measures, several systems, three classes, numbers, a census, refusals, open items."""
    rng = np.random.default_rng(1)
    two = pd.DataFrame({"id": range(400), "a": rng.integers(0, 3, 400), "b": rng.integers(0, 3, 400)})
    systems = {name: {"prediction": name} for name in ("a", "b")}
    classes = sd.Pool.from_frame(two, id="id", systems=systems, labels=[0, 1, 2])
    truth = {i: int(v) for i, v in enumerate(two["a"])}
    numbers = sd.Pool.from_frame(pd.DataFrame({"guess": rng.normal(size=300)}), prediction="guess")
    several = labelled(world, 80, measure=["precision", "recall"])
    several.ask(5)
    several.tell(several.ask(1)[0].id, None)
    compared = sd.create_study(classes, "accuracy", objective=sd.Compare("a", "b"), rng=1)
    compared.run(truth, budget=100)
    compared.ask(5)
    census = sd.create_study(classes, "accuracy", design="uniform", rng=1)
    census.run(truth, budget=400)
    errors = sd.create_study(numbers, "mean_absolute_error", rng=1)
    errors.run({i: float(i % 3) for i in range(300)}, budget=40)
    said = {}
    for name, study in (("several", several), ("compared", compared), ("census", census), ("errors", errors)):
        said[name] = read(study.report(tmp_path / f"{name}.html")).text
    assert "Every value" in said["several"]
    assert "still open" in said["several"]
    assert "Comparison of systems" in said["compared"]
    assert not re.search(r"! \w", said["compared"])
    assert "a is better than b" in said["compared"]
    assert "exactly" in said["census"]
    assert "Examples of wrong predictions" not in said["errors"]


@pytest.mark.parametrize("n", [0, 150])
def test_a_study_of_three_systems_is_asked_which_is_best(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.3
    systems = {
        name: {"prediction": np.where(rng.random(600) < wrong, ~truth, truth).astype(int)}
        for name, wrong in (("a", 0.05), ("b", 0.3), ("c", 0.4))
    }
    pool = sd.Pool.from_arrays(systems=systems)
    study = sd.create_study(pool, "f1", objective=sd.Compare(), budget=150, rng=1)
    if n:
        study.run(dict(enumerate(truth.astype(int).tolist())))
    lines = study.report(tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    if n:
        assert lines[2] == "Which of a, b and c is best on these 600 items?"
        assert lines[4].startswith("**f1: a is the best of 3")
    else:
        assert lines[4] == "**No answer yet: there is no label.**"


def test_a_report_is_about_the_system_that_its_measure_is_about(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.3
    systems = {
        name: {"prediction": np.where(rng.random(600) < wrong, ~truth, truth).astype(int)}
        for name, wrong in (("good", 0.05), ("bad", 0.4))
    }
    pool = sd.Pool.from_arrays(systems=systems)
    study = sd.create_study(pool, sd.measures.FBeta(system="bad"), design="uniform", budget=200, rng=1)
    study.run(dict(enumerate(truth.astype(int).tolist())))
    text = study.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "How good is bad on these 600 items" in text
    assert "Estimated for bad from the same labels" in text
    assert f"| accuracy | {study.estimate('accuracy', system='bad').value:.4f} |" in text
    assert "predictions of bad among" in text


def test_paths_that_will_not_do_are_refused(world, tmp_path: Path) -> None:
    study = labelled(world, 5)
    with pytest.raises(InvalidInput, match=r"\.html or \.md"):
        study.report(tmp_path / "report.docx")
    with pytest.raises(InvalidInput, match="no file in an existing folder"):
        study.report(tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_report_that_cannot_be_written_leaves_the_one_that_is_there(
    world, tmp_path: Path, monkeypatch, name
) -> None:
    study, path = labelled(world, 5), tmp_path / name
    path.write_text("of last week")

    def on_a_read_only_disk(*at: object, **how: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", on_a_read_only_disk)
    monkeypatch.setattr(Path, "unlink", on_a_read_only_disk)
    with pytest.raises(InvalidInput, match="cannot be written: Read-only file system"):
        study.report(path)
    assert path.read_text() == "of last week"


def test_a_picture_puts_values_where_they_belong() -> None:
    axes = Axes((0.0, 10.0), (0.0, 1.0), ("x", "y"))
    assert axes.h(0.0) < axes.h(5.0) < axes.h(10.0)
    assert axes.h(5.0) == pytest.approx(0.5 * (axes.h(0.0) + axes.h(10.0)))
    assert axes.v(0.0) > axes.v(1.0)
    axes.line([0.0, 1.0, 2.0, 3.0], [0.1, np.nan, 0.2, 0.3])
    assert axes.svg("<t>").count("<polyline") == 2
    assert "<title>&lt;t&gt;</title>" in axes.svg("<t>")


def test_a_long_name_stays_inside_the_picture() -> None:
    name = "accuracy[region=a very long region name that goes on and on]"
    assert name not in Axes((0.0, 1.0), (0.0, 1.0), ("x", name)).svg("")
    assert name[:20] in Axes((0.0, 1.0), (0.0, 1.0), ("x", name)).svg("")


@pytest.mark.slow
def test_nothing_is_wider_than_the_screen_in_a_browser(world, tmp_path: Path) -> None:
    browsers = pytest.importorskip("playwright.sync_api")
    if not shutil.which("chromium"):
        pytest.skip("chromium is not installed")
    path = labelled(world, 150).report(tmp_path / "report.html")
    with browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width in (340, 768, 1280):
            page = browser.new_page(viewport={"width": width, "height": 800})
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri())
            root = "document.documentElement"
            assert page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
            assert asked == [path.as_uri()]
        browser.close()


def test_a_study_of_groups_answers_by_group(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": np.arange(600), "score": rng.random(600), "shop": rng.choice(list("abc"), 600)}
    )
    pool = sd.Pool.from_frame(frame, id="id", score="score", threshold=0.5, groups=["shop"])
    study = sd.create_study(pool, objective=sd.IdentifyGroups("shop"), budget=60, rng=1)
    study.run(dict(enumerate((rng.random(600) < frame["score"]).astype(int).tolist())))
    said = study.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "in every group of shop" in said
    assert f"**{study.groups().summary().splitlines()[0]}" in said
    assert "## By shop" in said
    assert said.index("## Groups of shop") < said.index("## By shop")
    assert "As labels came in" not in said
    table = said.partition("## What would change the answer")[2]
    assert all(f"shop={name}" in table for name in "abc")


def test_of_many_groups_the_least_the_greatest_and_the_pool_are_varied(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shop = rng.choice(list("abcdefgh"), 800)
    pool = sd.Pool.from_arrays(prediction=np.ones(800, dtype=int), groups={"shop": shop})
    study = sd.create_study(pool, objective=sd.AssessGroups("shop"), budget=120, rng=1)
    study.run(dict(enumerate((rng.random(800) < np.where(shop == "c", 0.3, 0.8)).astype(int).tolist())))
    said = study.report(tmp_path / "report.md").read_text(encoding="utf-8")
    table = said.partition("## What would change the answer")[2].partition("If some labels")[0]
    values = study.estimate().value
    named = {"abcdefgh"[k] for k in (np.argmin(values), np.argmax(values))}
    assert {one for one in "abcdefgh" if f"shop={one}" in table} == named
    assert "| accuracy: " in table


def test_a_sample_in_which_all_labels_went_to_one_place_is_100_percent(tmp_path: Path) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", design="importance", rng=1)
    study.tell(study.ask(1)[0].id, 0)
    said = study.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "100 % of the labels went to" in said
    assert "e+02" not in said


@pytest.mark.parametrize("labels_asked", [0, 60])
def test_a_report_of_groups_is_written_where_groups_are_refused(labels_asked: int, tmp_path: Path) -> None:
    """Poisson draws are not even inside cells, so the table of every value has the groups."""
    pool, labels = sd.datasets.synthetic_pool(n=600, prevalence=0.2, rng=1)
    study = sd.create_study(pool, objective=sd.AssessGroups("prediction"), design="poisson", rng=1)
    if labels_asked:
        study.run(labels, budget=labels_asked)
    with pytest.raises(NotSupported, match="evenly inside cells"):
        study.groups()
    text = study.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert ("## Every value" in text) == bool(labels_asked)
    assert study.report(tmp_path / "report.html").exists()
