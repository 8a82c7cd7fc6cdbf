# The doors of the project. Every target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONUTF8 := 1
export HF_HUB_OFFLINE := 1
export TRANSFORMERS_OFFLINE := 1
# The evaluation data lies beside the checkout where it is laid out; tests that need it skip elsewhere.
ifeq ($(ATTEST_EVAL_DATA),)
ifneq ($(wildcard ../shared/eval),)
export ATTEST_EVAL_DATA := $(abspath ../shared/eval)
endif
endif

.PHONY: install install-dev demo test lint fmt serve bench bench-ingest bench-stores bench-crash bench-presidio bench-bge bench-protocols clean

$(VENV)/.base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev,bge]'
	touch $(VENV)/.base $@

install: $(VENV)/.base
install-dev: $(VENV)/.dev

demo: $(VENV)/.base
	$(BIN)/attest demo

serve: $(VENV)/.base
	$(BIN)/attest serve

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

fmt: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.base
	$(BIN)/python tests/bench/run.py

bench-ingest: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python tests/bench/run.py parsing ingestion

# The parsers of replies: megabytes a second, hostile replies, memory.
bench-protocols: $(VENV)/.base
	$(BIN)/python tests/bench/run.py protocols

# BGE-M3 at its real size with random weights: 5 GB of temporary files, 8 GB of memory, some minutes.
bench-bge: $(VENV)/.dev
	$(BIN)/python tests/bench/run.py bge

bench-presidio: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python tests/bench/run.py presidio

# The embedded store at 1,000 to 200,000 chunks, beside two frameworks.
bench-stores: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python tests/bench/stores.py

# Processes killed at random moments of an ingestion: ROUNDS of them, 200 by default.
ROUNDS ?= 200
bench-crash: $(VENV)/.base
	$(BIN)/python tests/bench/crash.py --rounds $(ROUNDS)

clean:
	rm -rf $(VENV) build *.egg-info
