# make run    the main job, end to end, on the bundled survey
# make demo   a study on localhost: form, analyst's page, simulated respondents
# make quick  a minute: style, types, layers, the rooms that proofs stand on
# make test   style, types, tests, coverage; needs Python and make, nothing else
# make test-all  every test and page: Spark, browser and Node too (installs them), attacks on proofs, large alphabets
# make docs   the documentation as a site: out/docs/index.html
# make dist   wheel and sdist, built twice with one hash; SBOM
# make audit  the slow proofs by sampling     make bench  speed, as ratios against peers (make bench-check, make profile)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: dist run demo quick test test-all lint types core unit every system site docs audit bench bench-check bench-all profile clean help

help:
	@sed -n 's/^# //p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "extremal needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot]'
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[collect,frames]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.run $(VENV)/.demo

run: $(VENV)/.run
	$(BIN)/python examples/survey.py

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

# What proofs stand on; its own tests must cover every branch of it.
CORE := exact sources problem privacy mechanism certificate
COVERED := src/extremal/exact/*,src/extremal/problem/*,src/extremal/mechanism/*,src/extremal/privacy/*,src/extremal/certificate/*
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -rs
OF_CORE := $(wildcard $(CORE:%=tests/%) $(CORE:%=src/extremal/%))
OF_THE_REST := $(OF_CORE:%=--ignore=%)
SHORT := -m 'not slow and not system'

quick: lint types core

test: lint types unit

test-all: lint types system every site

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/mypy

core: $(VENV)/.dev
	$(PYTEST) $(SHORT) tests/test_layers.py tests/test_tiers.py $(OF_CORE) --ignore=tests/certificate/test_independent.py

# Coverage costs half as much time again, so it is taken of the core alone.
unit: $(VENV)/.dev
	$(PYTEST) $(SHORT) --cov --cov-report= $(OF_CORE)
	$(BIN)/coverage report --fail-under=100 --include='$(COVERED)'
	$(PYTEST) $(SHORT) $(OF_THE_REST)

every: $(VENV)/.dev
	$(PYTEST) --cov --cov-report= $(OF_CORE)
	$(BIN)/coverage report --fail-under=100 --include='$(COVERED)'
	$(PYTEST) $(OF_THE_REST)

# Java for Spark, Node and Chromium for the device's script: installed when absent, or their tests are skipped.
system:
	@tests/system

# Every page, every link between pages and every docstring; the gallery's scripts are run by the tests and not again here.
site: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -b html -D plot_gallery=0 -d out/doctrees-unrun docs out/docs-unrun

docs: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -b html -d out/doctrees docs out/docs
	@echo "open out/docs/index.html"

audit: $(VENV)/.dev
	@for script in audit/*/*.py; do echo "== $$script"; $(BIN)/python -m $$(echo $${script%.py} | tr / .) || exit 1; done

$(VENV)-bench/.ready: pyproject.toml bench/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check -e '.[fast,frames,duckdb,spark,plot]' -r bench/requirements.txt
	@touch $@

# Measures, and writes docs/reference/benchmarks.md, its pictures and bench/stored.
bench: $(VENV)-bench/.ready
	$(VENV)-bench/bin/python bench/page.py

bench-check: $(VENV)-bench/.ready
	$(VENV)-bench/bin/python bench/page.py --check

# Every script of the folder: each prints more about its own corner.
bench-all: bench
	@for script in bench/*.py; do [ $$script = bench/page.py ] || { echo "== $$script"; $(VENV)-bench/bin/python $$script || exit 1; }; done

profile: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/page.py --profile

$(VENV)-dist/.ready: packaging/requirements.txt
	$(PYTHON) -m venv $(VENV)-dist
	$(VENV)-dist/bin/python -m pip install --quiet --disable-pip-version-check -r packaging/requirements.txt
	@touch $@

dist: $(VENV)-dist/.ready
	$(VENV)-dist/bin/python packaging/dist.py

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-dist dist .pytest_cache .mypy_cache .ruff_cache .coverage out
