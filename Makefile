.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup demo test test-pythons test-lowest lint types bench bench-choose bench-insight bench-spark docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## create .venv with everything the other targets need

$(STAMP): pyproject.toml constraints.txt tools/setup.sh
	PYTHON=$(PYTHON) sh tools/setup.sh
	@touch $@

demo: $(STAMP)  ## track one stream under three labellings; writes demo.png
	$(BIN)/python examples/demo.py demo.png

test: lint  ## lint, then run every test
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-pythons:  ## run every test on each supported Python of this machine
	sh tools/test_pythons.sh

test-lowest:  ## run every test with the lowest versions that pyproject.toml allows
	sh tools/test_lowest.sh

lint: $(STAMP)  ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## compare the speed of icvi with its peers
	$(BIN)/python benchmarks/run.py

bench-choose: $(STAMP)  ## measure how well clusterers find the clusters of a stream
	$(BIN)/python benchmarks/run_choose.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/run_choose.py --sureness

bench-insight: $(STAMP)  ## measure how well verdicts and alarms find faults
	$(BIN)/python benchmarks/run_insight.py

bench-spark: $(STAMP)  ## compare icvi.spark with Spark's own evaluator
	$(BIN)/python benchmarks/run_spark.py

docs: $(STAMP)  ## build docs/ into docs/_build; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build
	@echo open docs/_build/index.html

clean:  ## remove environments, caches and results
	rm -rf .venv .venv-peers .venv-alone .venv-lowest* .venv-3.* .mypy_cache .ruff_cache .pytest_cache .hypothesis benchmarks/results demo.png
	rm -rf docs/_build docs/_generated docs/api docs/indices
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
