# Every target makes the virtual environment it needs in .venv and changes nothing outside
# this folder. Only Python 3.11 or newer and make are required.
#
#   make demo                       evaluate a real model with 500 labels
#   make test                       run the tests
#   make test ARGS="-k poisson"     pass options on (also for test-slow, bench and demo)
#   make PYTHON=python3.13 test     choose the interpreter

PYTHON ?= python3
JOBS ?= auto
ARGS ?=

VENV = .venv
RUN = $(VENV)/bin/python -m
INSTALL = $(RUN) pip --quiet --disable-pip-version-check install --prefer-binary --editable

.PHONY: help demo test test-slow check bench docs pictures clean
.NOTPARALLEL:

help:
	@echo "make demo       evaluate a real model with 500 labels, against a uniform sample"
	@echo "make test       run the tests"
	@echo "make test-slow  run the long statistical studies"
	@echo "make check      format, lint, types, documentation"
	@echo "make bench      run the benchmarks"
	@echo "make docs       build the documentation into site/, with every plot drawn anew"
	@echo "make pictures   draw the picture of the README again"
	@echo "make clean      remove everything these commands made"

demo: $(VENV)/.installed-demo
	@$(RUN) sondage demo $(ARGS)

test: $(VENV)/.installed-test
	$(RUN) pytest -n $(JOBS) --dist worksteal $(ARGS)

test-slow: $(VENV)/.installed-test
	$(RUN) pytest -n $(JOBS) --dist worksteal --timeout 7200 -m slow $(ARGS)

check: $(VENV)/.installed-check
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy --strict src benchmarks
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --quiet

bench: $(VENV)/.installed-test
	$(RUN) benchmarks $(ARGS)

docs: $(VENV)/.installed-test $(VENV)/.installed-check
	PICTURES=1 NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --quiet
	@echo "Read them, with search: $(VENV)/bin/python -m http.server --directory site"

pictures: $(VENV)/.installed-test
	$(VENV)/bin/python docs/pictures/learning.py

clean:
	rm -rf $(VENV) site dist .pytest_cache .ruff_cache .mypy_cache .hypothesis sondage-demo.png
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp for each set of extras: installed once, and again when pyproject.toml changes.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed-demo: pyproject.toml $(VENV)/.created
	@echo "Installing sondage and what the demo needs (first time only) ..."
	@$(INSTALL) '.[demo]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/.created
	@echo "Installing sondage and what the tests need (first time only) ..."
	@$(INSTALL) '.[test]'
	@touch $@

$(VENV)/.installed-check: pyproject.toml $(VENV)/.created
	@echo "Installing sondage and the checkers (first time only) ..."
	@$(INSTALL) '.[check]'
	@touch $@
