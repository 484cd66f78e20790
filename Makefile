.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup demo test test-pythons test-lowest lint types bench docs clean

help:  ## list what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv with everything the other targets need

$(STAMP): pyproject.toml constraints.txt tools/setup.sh
	PYTHON=$(PYTHON) sh tools/setup.sh
	@touch $@

demo: $(STAMP)  ## watch one stream under three labellings; writes demo.png
	$(BIN)/python examples/demo.py demo.png

test: lint  ## lint, types, then every test
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-pythons:  ## every test on each Python of this machine that is supported
	sh tools/test_pythons.sh

test-lowest:  ## every test with the lowest versions that pyproject.toml allows
	sh tools/test_lowest.sh

lint: $(STAMP)  ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## speed of icvi and its peers, side by side
	$(BIN)/python benchmarks/run.py

docs: $(STAMP)  ## build the pages of docs/ into docs/_build, warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build
	@echo open docs/_build/index.html

clean:  ## remove environments, caches and results
	rm -rf .venv .venv-peers .venv-alone .venv-lowest* .venv-3.* .mypy_cache .ruff_cache .pytest_cache .hypothesis benchmarks/results demo.png
	rm -rf docs/_build docs/_generated docs/api docs/indices
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
