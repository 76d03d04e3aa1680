# Every target sets up what it needs in .venv, once. Needed beforehand: make, and Python 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
CHECKOUT := $(shell printf %s "$(CURDIR)" | cksum | cut -d' ' -f1)
# Stamps carry the folder's name: a virtual environment does not survive being moved.
DEMO_READY := $(VENV)/.ready-demo-$(CHECKOUT)
TEST_READY := $(VENV)/.ready-test-$(CHECKOUT)
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST ?=

.PHONY: help demo test lint unit bench screens clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## open the bundled example (printed where there is no terminal)
	@$(BIN)/promptdbg demo

test: lint unit  ## lint, types, import rules and all tests but those against the real frameworks

lint: $(TEST_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(TEST_READY)  ## the tests alone; make unit PYTEST="-k name" for some of them
	$(BIN)/pytest -q -n $(WORKERS) $(PYTEST)

bench: $(TEST_READY)  ## print the benchmarks (minutes; run it on a quiet machine)
	$(BIN)/python -m tests.bench

clean:  ## remove the virtual environments and every cache
	rm -rf $(VENV) .venv-* build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(DEMO_READY): pyproject.toml .ci/venv
	@bash .ci/venv $(VENV) .
	@touch $@

$(TEST_READY): pyproject.toml .ci/venv
	@bash .ci/venv $(VENV) '.[test,lint]'
	@touch $@ $(DEMO_READY)
