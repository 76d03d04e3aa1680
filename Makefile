# Every target sets up what it needs in .venv, once. Needed beforehand: make, and Python 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
CHECKOUT := $(shell printf %s "$(CURDIR)" | cksum | cut -d' ' -f1)
# Stamps carry the folder's name: a virtual environment does not survive being moved.
DEMO_READY := $(VENV)/.ready-demo-$(CHECKOUT)
TEST_READY := $(VENV)/.ready-test-$(CHECKOUT)
NANOBOTS := 0.3.5 0.2.2
AGENTOS := 0.9.164
PARITY_EXAMPLES ?= 200
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST ?=
BENCH ?=

.PHONY: help demo test lint unit versions parity bench package docs screens clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## open the bundled example (printed where there is no terminal)
	@$(BIN)/promptdbg demo

test: lint unit  ## lint, types (also for Windows and macOS), import rules and all tests but those against the real frameworks

lint: $(TEST_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --cache-dir .mypy_cache/win32 --platform win32 --python-version 3.14 src
	$(BIN)/mypy --cache-dir .mypy_cache/darwin --platform darwin src
	$(BIN)/lint-imports

unit: $(TEST_READY)  ## the tests alone; make unit PYTEST="-k name" for some of them
	$(BIN)/pytest -q -n $(WORKERS) --ignore tests/parity --ignore tests/parity_agentos $(PYTEST)

versions:  ## the tests under every supported Python that is on this machine; the others are named
	@WORKERS=$(WORKERS) bash .ci/versions $(PYTEST)

parity: $(TEST_READY) $(NANOBOTS:%=.venv-nanobot-%/.ready) .venv-agentos/.ready  ## compare with the real frameworks (PARITY_EXAMPLES=5000: the long run)
	PROMPTDBG_PARITY=1 \
	PROMPTDBG_PARITY_EXAMPLES=$(PARITY_EXAMPLES) \
	PROMPTDBG_NANOBOT_035=$(CURDIR)/.venv-nanobot-0.3.5/bin/python \
	PROMPTDBG_NANOBOT_022=$(CURDIR)/.venv-nanobot-0.2.2/bin/python \
	PROMPTDBG_AGENTOS_NODE_MODULES=$(CURDIR)/.venv-agentos/node_modules \
	$(BIN)/pytest -q --timeout=3600 -n $(WORKERS) --dist loadfile tests/parity $$(cat .venv-agentos/.ready)

bench: $(TEST_READY)  ## print the benchmarks (minutes; run it on a quiet machine); BENCH=--write keeps them
	$(BIN)/python -m tests.bench $(BENCH)

package:  ## build the sdist and the wheel, install the wheel elsewhere and use it
	@bash .ci/package

docs: $(TEST_READY)  ## write anew what the documentation shows: outputs, tables, pictures of screens
	$(BIN)/python -m tests.generate

screens: $(TEST_READY)  ## the pictures alone
	$(BIN)/python -m tests.generate screens

clean:  ## remove the virtual environments and every cache
	rm -rf $(VENV) .venv-* build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(DEMO_READY): pyproject.toml .ci/venv
	@bash .ci/venv $(VENV) .
	@touch $@

$(TEST_READY): pyproject.toml .ci/venv
	@bash .ci/venv $(VENV) '.[test,lint]'
	@touch $@ $(DEMO_READY)

.venv-nanobot-%/.ready: .ci/venv
	@bash .ci/venv .venv-nanobot-$* nanobot-ai==$*
	@touch $@

# The stamp holds the tests that this makes possible.
.venv-agentos/.ready: Makefile
	@mkdir -p .venv-agentos
	@if command -v npm >/dev/null; then \
	  echo "installing into .venv-agentos: @framers/agentos $(AGENTOS)"; \
	  npm install --silent --prefix .venv-agentos --no-audit --no-fund --ignore-scripts \
	    --omit=optional --omit=peer --legacy-peer-deps @framers/agentos@$(AGENTOS) \
	    && echo tests/parity_agentos >$@; \
	else \
	  echo "node and npm are not here: AgentOS is not compared with the real one"; : >$@; \
	fi
