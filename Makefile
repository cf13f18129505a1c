# Everything starts here: `make demo` on a fresh machine, `make test` before a change is proposed.
#
#   PYTHON=python3.12 make demo            another interpreter (3.11 or later)
#   make test PYTEST_ARGS="-k four_bar"    some tests only
#   make test JOBS=0                       tests in one process, for a debugger
#   make bench BENCH="operations"    some benchmarks only

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
BENCH  ?=
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PIP  = PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --no-input
PACKAGE := pyproject.toml src/closedchain/_version.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo dev test lint format bench docs serve clean distclean

help:
	@echo "make demo     simulate a Gough-Stewart platform; a table here, plots in ./out"
	@echo "make test     all tests (PYTEST_ARGS=... is passed on)"
	@echo "make lint     style, types, layers, spelling"
	@echo "make format   let ruff repair what it can"
	@echo "make bench    all benchmarks (BENCH=name for one)"
	@echo "make docs     the documentation, into ./site"
	@echo "make serve    the documentation in a browser, following your edits"
	@echo "make dev      the developer's environment in $(VENV), and nothing else"
	@echo "make clean    remove what was made; 'make distclean' removes $(VENV) as well"

demo: $(VENV)/.installed
	@$(BIN)/closedchain demo

dev: $(VENV)/.installed-dev
	@echo "ready: $(BIN)/python, $(BIN)/pytest, $(BIN)/closedchain"

test: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	@PATH="$(abspath $(BIN)):$$PATH" sh tools/lint.sh

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks $(BENCH)

docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --clean --site-dir site
	@echo "documentation: open site/index.html"

serve: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

clean:
	rm -rf build dist out site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

# The environment. A stamp file says what is installed; an edit of pyproject.toml makes the stamps old.

$(VENV)/.made:
	@PYTHON="$(PYTHON)" sh tools/make_venv.sh "$(VENV)"
	@touch $@

$(VENV)/.installed: $(VENV)/.made $(PACKAGE)
	@echo "installing closedchain into $(VENV) (a minute or two, once) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.made $(PACKAGE)
	@echo "installing closedchain and the developer's tools into $(VENV) (a minute or two, once) ..."
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-docs: $(VENV)/.made $(PACKAGE)
	@echo "installing closedchain and the documentation tools into $(VENV) (a minute or two, once) ..."
	@$(PIP) --editable '.[docs]'
	@touch $(VENV)/.installed $@
