# Every target sets itself up in a fresh clone: it needs Python 3.11 or newer with venv, pip and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS = 1
SERVICES := prometheus postgresql libgomp1

.PHONY: help demo test test-cluster services control-plane load-generator lint format docs hooks bench lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.installed ## the main job on a real trace, without any server
	$(BIN)/forecaster demo

test: $(VENV)/.developed services control-plane load-generator ## every test; those that need a program which is not there are skipped with the reason
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-cluster: $(VENV)/.developed services control-plane ## the tests on a real Kubernetes control plane; they need Go and a C compiler
	FORECASTER_REQUIRE_CLUSTER=1 $(BIN)/python -m pytest tests/cluster

# API server, controllers and kubectl from source: some minutes the first time, then from ~/.cache/forecaster-tests. Without Go it says so.
control-plane:
	@$(PYTHON) -m tests.cluster.build

# AIPerf in an environment of its own, since its pins exclude ours: some minutes and 1.2 GB the first time, then from the same place.
load-generator: $(VENV)/.developed
	@$(BIN)/python -m tests.load_generator

# Debian's packages for the real counterparts in the tests, and the library that LightGBM is linked with, where apt and root are there.
services:
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		missing=$$(for package in $(SERVICES); do dpkg -s $$package >/dev/null 2>&1 || echo $$package; done); \
		if [ -n "$$missing" ]; then \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
		fi; \
	else \
		echo "no apt-get or not root: tests that need $(SERVICES) are skipped unless they are installed"; \
	fi

lint: $(VENV)/.developed ## style, types and the one-way imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(VENV)/.developed ## put the code into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.developed ## write the generated references again
	$(BIN)/python -m jobs.references

hooks: $(VENV)/.developed ## write the messages of KEDA's external scaler again from their .proto
	$(BIN)/python -m grpc_tools.protoc -Ijobs/hooks/wire --python_out=jobs/hooks/wire --pyi_out=jobs/hooks/wire externalscaler.proto

bench: $(VENV)/.developed services ## speed, size and accuracy, as ratios in one run
	$(BIN)/python -m benchmarks

lock: $(VENV)/.developed ## resolve the dependencies anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group test --group lint --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --upgrade --quiet --custom-compile-command 'make lock' --output-file requirements.lock

clean: ## remove what the targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Forecaster needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml requirements.lock
	$(BIN)/python -m pip install --quiet --constraint requirements.lock --editable '.[gbm]'
	@touch $@

$(VENV)/.developed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint requirements.lock --group test --group lint
	@touch $@
