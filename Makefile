# The two commands: `make up` runs memadmin, `make test` tests it. Both need Python 3.11 or newer and PyPI, nothing else.
# Arguments go through ARGS: make up ARGS="--reset-demo", make test ARGS="-k sign_in".

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && exit; done; echo python3)
VENV ?= .venv
RUN = $(VENV)/bin/python
export MEMADMIN_VENV := $(abspath $(VENV))
TEMPLATES = templates

.PHONY: up test test-services test-quick faults bench lint format types check deploy-files lock hindsight clean runtime dev

up: runtime
	@exec $(RUN) -m memadmin up $(ARGS)

# Two processes, each with a database of its own: PROCESSES=0 for one.
PROCESSES ?= 2
PYTEST = $(RUN) -m pytest -n $(PROCESSES) --dist loadgroup

test: dev
	@$(PYTEST) $(ARGS)

# On a PostgreSQL and a Redis that run beside the tests. Left out: what is about memadmin's own database and broker, how
# pages look, and the contract of the Hindsight server, which meets no database of ours.
test-services: dev
	@$(RUN) -m tests.services run -- $(PYTEST) -m "not contract and not embedded and not looks" $(ARGS)

test-quick: dev
	@$(RUN) -m pytest -n auto -m "not contract and not browser and not stack and not faults" $(ARGS)

# Kills web, workers and broker while people decide, and audits what is left: make faults ROUNDS=10 SEED=3
ROUNDS ?= 50
RETAINS ?= 200
SEED ?= 1
faults: dev
	@$(RUN) -m tests.faults --rounds $(ROUNDS) --retain-rounds $(RETAINS) --seed $(SEED) $(ARGS)

# Ratios against floors measured in the same run, and bench.json (docs/bench.md): make bench ONLY=decision
bench: dev
	@$(RUN) -m tests.bench $(ONLY)

lint: dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m djlint --lint --quiet $(TEMPLATES)

format: dev
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

types: dev
	$(RUN) -m mypy

# Everything but the tests.
check: lint types
	$(RUN) manage.py makemigrations --check --dry-run
	$(RUN) scripts/deploy_check.py

# What deploy/ has for systemd and nginx, read by them where they are installed.
deploy-files: dev
	@$(RUN) scripts/deploy_files.py

# After a change of the dependencies in pyproject.toml. The locks hold hashes and no addresses.
lock: dev
	$(RUN) -m pip install --quiet uv
	$(RUN) -m uv pip compile pyproject.toml --universal --generate-hashes --extra postgres --no-header --quiet -o requirements.lock
	$(RUN) -m uv pip compile pyproject.toml --universal --generate-hashes --extra postgres --group dev --no-header --quiet -o requirements-dev.lock

# A real Hindsight server for the contract tests, left running; make hindsight ARGS=down stops it.
hindsight: dev
	@$(RUN) -m tests.hindsight $(or $(ARGS),up)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .cache/migrated build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

runtime:
	@$(PYTHON) scripts/environment.py runtime

dev:
	@$(PYTHON) scripts/environment.py dev
