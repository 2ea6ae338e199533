# The project's verbs. `make help` lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STACK ?= dev
PATHS := .github/scripts __main__.py program.py offline.py components doks_gpu rehearsal benchmarks tests

# A warm start needs Python's compiled files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help preview test rehearse test-rehearsal rehearsal-full bench check fmt lint type clean
.DEFAULT_GOAL := help

help:  ## List the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

preview: $(VENV)/runtime  ## Show what stack $(STACK) would be; needs Python 3.11 and nothing else
	@$(BIN)/doks-gpu preview --stack $(STACK)

test: $(VENV)/dev  ## Tests that need only pip, under 3 minutes
	$(BIN)/pytest -n 2 -m "not rehearsal and not full"

rehearse: $(VENV)/dev  ## Run stack $(STACK) on this machine: real engine, real control plane, stand-in cloud (Linux)
	@$(BIN)/doks-gpu rehearse --stack $(STACK)

test-rehearsal: $(VENV)/dev  ## Tests on the real engine and control plane
	$(BIN)/python -m rehearsal.toolchain
	$(BIN)/pytest -m "rehearsal and not full"

rehearsal-full: $(VENV)/dev  ## Every rehearsal; the last result is in docs/rehearsal-full.md
	$(BIN)/python -m rehearsal.toolchain
	$(BIN)/pytest -m "rehearsal or full"

bench: $(VENV)/dev  ## Measure; results go to benchmarks/RESULTS.md by hand, with date and machine
	$(BIN)/python -m benchmarks.preview

check: lint type test  ## What CI runs, less the rehearsal

fmt: $(VENV)/dev  ## Format
	$(BIN)/ruff format $(PATHS)
	$(BIN)/ruff check --fix $(PATHS)

lint: $(VENV)/dev  ## Style and import rules
	$(BIN)/ruff format --check $(PATHS)
	$(BIN)/ruff check $(PATHS)
	$(BIN)/lint-imports

type: $(VENV)/dev  ## mypy --strict
	$(BIN)/mypy

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 …"; exit 1; }
	@echo "Making the virtual environment in $(VENV) (once, about 20 s) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV)
	@touch $@

UV := 0.13.9

$(VENV)/runtime: $(VENV)/python requirements.txt pyproject.toml
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

$(VENV)/dev: $(VENV)/runtime requirements-dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements-dev.txt
	@touch $@

clean:  ## Remove the virtual environment and what the tools left
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .doks-gpu
