# `make demo` and `make test` do all the set-up themselves; they need python3 >= 3.11, pip and make.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
SITE := $(VENV)/.site-is-installed
DEV := $(VENV)/.dev-is-installed

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test lint types docs acceptance cluster interop browser chaos package messages bench proto clean

help:
	@echo "make demo         the example site on http://127.0.0.1:$(PORT); PORT=8123 for another port"
	@echo "make test         the tests"
	@echo "make lint types   style, import contracts, type checks"
	@echo "make docs         the documentation into build/docs, warnings are errors"
	@echo "make acceptance   the black-box suite under daphne and uvicorn"
	@echo "make cluster      its gRPC and cluster cases: three processes on one database, with PostgreSQL and with Redis"
	@echo "make chaos        kills processes, Redis and PostgreSQL under 500 tasks, for 5 minutes; ARGS='--seconds 60'"
	@echo "make interop      the official Python and JavaScript clients, of 1.x and of 0.3"
	@echo "make browser      the admin in a real browser; Debian's package chromium has to be there"
	@echo "make messages     the German catalogue: texts of the code into it, compiled (needs gettext)"
	@echo "make package      wheel and sdist, and docs/tutorial.md followed with the wheel in an empty folder"
	@echo "make bench        this server beside the official SDK's; writes benchmarks/RESULTS.md"
	@echo "make proto        the message modules anew from proto/a2a.proto"
	@echo "make clean        remove the virtual environment and the demo's database"

demo: $(SITE)
	@$(PY) manage.py preparedemo --port $(PORT)
	@$(PY) manage.py runserver 127.0.0.1:$(PORT)

test: $(DEV)
	$(PY) -m pytest $(ARGS)

lint: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports

types: $(DEV)
	$(PY) -m mypy

docs: $(DEV)
	$(PY) docs/generate.py --check
	$(PY) -m sphinx -q -W --keep-going -b html docs build/docs

acceptance: $(DEV)
	$(PY) -m tests.acceptance --server daphne $(ARGS)
	$(PY) -m tests.acceptance --server uvicorn $(ARGS)

cluster: $(DEV)
	$(PY) -m tests.acceptance --cluster --database sqlite $(ARGS)
	$(PY) -m tests.acceptance --cluster --database postgres $(ARGS)
	$(PY) -m tests.acceptance --cluster --database postgres --redis --server uvicorn $(ARGS)

chaos: $(DEV)
	$(PY) -m tests.chaos $(ARGS)

interop: $(DEV)
	$(PY) -m pytest tests/interop $(ARGS)

browser: $(DEV)
	A2A_TEST_BROWSER=1 $(PY) -m pytest tests/browser $(ARGS)

bench: $(DEV)
	$(PY) -m benchmarks $(ARGS)

# After changes of texts for people; then translate what is empty or fuzzy, and again.
messages: $(DEV)
	cd a2a_django && PYTHONPATH=.. DJANGO_SETTINGS_MODULE=tests.settings ../$(PY) -m django makemessages -l de \
	    --no-location --no-wrap --no-obsolete
	msgfmt --check-format -o a2a_django/locale/de/LC_MESSAGES/django.mo a2a_django/locale/de/LC_MESSAGES/django.po

package: $(DEV)
	$(PY) -m pytest tests/packaging $(ARGS)

proto: $(DEV)
	$(PY) proto/generate.py

clean:
	rm -rf $(VENV) .demo

# A Python without ensurepip (Debian without python3-venv) still makes an environment; its own pip then fills it.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; say which one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
		else $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install --quiet pip; fi

# Each installs again only when pyproject.toml changed.
$(SITE): pyproject.toml | $(PY)
	@echo "Installing into $(VENV) ..."
	@$(PIP) install --quiet --editable .
	@touch $@

$(DEV): pyproject.toml | $(PY)
	@echo "Installing into $(VENV) ..."
	@$(PIP) install --quiet --editable '.[dev]'
	@touch $(SITE) $@
