# Likert Arena. `make help` lists the targets; everything else is in arena/process/bootstrap.py and tests/run.py.

.DEFAULT_GOAL := help
.PHONY: help run install operator parquet local test golden local-test lint faults servers bench simulations wheel lock plotly
PYTHON_NEEDED := Likert Arena needs Python 3.11 or newer; install it, or name one: make $(or $(MAKECMDGOALS),run) PYTHON=/path/to/python3.11
# The first of these that is new enough runs the steps; PYTHON alone where it is given.
PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python3.14 python)
BOOTSTRAP = for python in $(PYTHONS); do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	exec "$$python" -m arena.process.bootstrap $(1); fi; done; echo "$(PYTHON_NEEDED)" >&2; $(2)

# make itself exits with 2 whenever a recipe fails. The three targets below promise 1 and one sentence, so the
# step leaves its exit code in a file, and with --question make exits with 1 for a recipe it would have to run.
# (Lines that start with + run all the same.)
ifneq ($(filter run install operator,$(MAKECMDGOALS)),)
MAKEFLAGS += --question
export ARENA_STATUS_FILE := $(shell mktemp)
failed = $(filter-out 0,$(shell cat "$(ARENA_STATUS_FILE)" 2>/dev/null; rm -f "$(ARENA_STATUS_FILE)"))
endif

run: _run ## install what is missing and start the arena (PORT, HOST)
	$(if $(failed),failed)
install: _install ## make .venv and install requirements.txt
	$(if $(failed),failed)
operator: _operator ## give the operator a new password
	$(if $(failed),failed)

.PHONY: _run _install _operator
_run _install _operator: _%:
	+@unset MAKEFLAGS MFLAGS MAKELEVEL; $(call BOOTSTRAP,$*,echo 1 >"$$ARENA_STATUS_FILE")


COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock"

.PHONY: _install-dev _install-bench
_install-dev _install-bench: _%:
	@$(call BOOTSTRAP,$*,exit 1)

parquet: ## add what reading and writing Parquet needs (pyarrow)
	@$(call BOOTSTRAP,parquet,exit 1)

local: ## add what features of a model on this machine need (torch, transformers; 1 GB)
	@$(call BOOTSTRAP,install,exit 1)
	@$(call BOOTSTRAP,local,exit 1)

test: _install-dev ## linters and the whole suite: SQLite, PostgreSQL with Redis, a real browser
	@.venv/bin/python -m tests.run
golden: _install-dev ## write anew what tests/golden holds, after a change of answers that is meant
	@ARENA_GOLDEN=write .venv/bin/python -m pytest -q tests/golden
local-test: _install-dev ## the tests of `make local`, which make test leaves out
	@$(call BOOTSTRAP,local,exit 1)
	@.venv/bin/python -m pytest tests/local
lint: _install-dev ## linters only: ruff, mypy, import-linter
	@.venv/bin/python -m tests.run --lint-only
faults: _install-dev ## the long drill: 2,000 judge calls under kills, restarts and outages, and more; half an hour to an hour
	@.venv/bin/python -m tests.faults
servers: _install-dev ## LiteLLM, llama.cpp and transformers serve judge and write 40 pairs and play 4 battles each; installs 3 GB into var/servers
	@.venv/bin/python -m tests.servers
bench: _install-bench ## speed benchmarks, for a quiet machine
	@.venv/bin/python -m pytest tests/benchmarks -s
	@DATABASE_URL=sqlite:///$$(mktemp -d)/bench.sqlite3 .venv/bin/python -m tests.benchmarks.import_memory 20
	@for database in sqlite postgresql; do \
		.venv/bin/python -m tests.benchmarks.public_pages $$database --raters 30 && \
		.venv/bin/python -m tests.benchmarks.growth $$database --boards 1000000 || exit 1; done
simulations: _install-dev ## how often intervals include the truth; several hours
	@.venv/bin/python -m pytest tests/simulations -s
wheel: _install-dev ## build the package into dist/
	@.venv/bin/python -m hatchling build --target wheel --directory dist
lock: _install-dev ## update the requirements files from pyproject.toml
	@$(COMPILE) --group uv --output-file requirements-uv.txt
	@$(COMPILE) pyproject.toml --output-file requirements.txt
	@$(COMPILE) pyproject.toml --extra parquet --output-file requirements-parquet.txt
	@$(COMPILE) pyproject.toml --group dev --output-file requirements-dev.txt
	@$(COMPILE) pyproject.toml --group bench --output-file requirements-bench.txt
plotly: ## build arena/static/vendor/plotly from the npm package; needs Node
	@cd vendor/plotly && npm ci --ignore-scripts --no-audit --no-fund && npm run build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
