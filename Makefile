# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# The verbs a person needs. `make help` lists them.

SHELL := /bin/bash
VENV ?= .venv
PYTHON := $(VENV)/bin/python
PRESET ?= dev
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)

.PHONY: help setup headers configure build build-tests demo wheel test test-all test-newest test-matrix sanitize fuzz lint lint-quick bench pictures docs messages format clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## Debian packages and .venv, exactly as locked
	@MEMTRACE_VENV=$(abspath $(VENV)) setup/stage.sh --first "set up" setup/setup.sh

# One line before and one after each stage, with its minutes; all of them again at the end of `make test`.
STAGE := setup/stage.sh

configure: setup
	@mkdir -p build; test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) -DMEMTRACE_PYTHON=$(abspath $(PYTHON)) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }

build: configure ## compile what is installed, and install it into .venv
	@$(STAGE) "build the product" cmake --build $(BUILD) -j $(JOBS) --target product
	@cmake --install $(BUILD) --component memtrace >/dev/null

# Of CUDA 12, which no torch of this environment brings: the card's stand-ins for it are built with them.
headers: setup
	@$(PYTHON) setup/fetch_headers.py build/headers cuda-12

build-tests: headers build
	@$(STAGE) "build the tests" cmake --build $(BUILD) -j $(JOBS) --target tests

demo: build ## a real GPT-2 XL training step runs out of a simulated 24 GiB card; the report says why
	@examples/demo.sh $(VENV)/bin

wheel: setup ## dist/memtrace-*.whl, which needs no compiler and nothing of Debian: any Linux with glibc 2.28
	@$(STAGE) "build the wheel" setup/wheel.sh $(VENV) $(JOBS) dist

test: build-tests lint-quick ## everything that must pass before a change lands
	@$(STAGE) "run the tests" ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE slow
	@$(PYTHON) tests/support/skipped.py $(BUILD)
	@$(STAGE) --summary

test-newest: ## the tests that depend on torch and CUDA, with the newest torch (.venv-newest)
	@setup/setup.sh newest
	@mkdir -p build; cmake --preset newest >build/newest.log 2>&1 || { cat build/newest.log; exit 1; }
	@cmake --build --preset newest -j $(JOBS)
	@cmake --install build/newest --component memtrace >/dev/null
	@ctest --test-dir build/newest --output-on-failure -j $(JOBS) -L torch
	@.venv-newest/bin/python tests/support/skipped.py build/newest

MINORS ?=
test-matrix: wheel ## the wheel with each torch minor (MINORS="2.8 2.13" for some), each in a fresh environment: a table; hours
	@$(PYTHON) setup/missing_torches.py || true
	@$(PYTHON) tests/matrix/matrix.py $$(ls -t dist/memtrace-*.whl | head -1) build/matrix $(MINORS)

test-all: test ## and what is slow: the static analyzer, each header alone, the newest torch, frameworks, sanitizers, fuzzers, all recordings
	@$(MAKE) --no-print-directory lint
	@cmake --build $(BUILD) -j $(JOBS) --target check_headers
	@setup/setup.sh frameworks
	@setup/setup.sh spark
	@cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@ctest --test-dir $(BUILD) --output-on-failure -L slow
	@MEMTRACE_WARM_STARTS=0 ctest --test-dir $(BUILD) --output-on-failure -L torch -LE slow
	@$(MAKE) --no-print-directory test-newest
	@$(MAKE) --no-print-directory test-matrix
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory fuzz

sanitize: setup ## the unit tests under the address, undefined-behaviour and thread sanitizers (clang)
	@for preset in asan tsan; do \
	  cmake --preset $$preset -DMEMTRACE_PYTHON=$(abspath $(PYTHON)) >/dev/null && \
	  cmake --build build/$$preset -j $(JOBS) --target unit_tests && \
	  ctest --test-dir build/$$preset --output-on-failure -j $(JOBS) -L unit || exit 1; done

FUZZ_SECONDS ?= 120
fuzz: setup ## each fuzzer for FUZZ_SECONDS (120); what it finds is left in build/fuzz
	@cmake --preset asan -DMEMTRACE_PYTHON=$(abspath $(PYTHON)) >/dev/null
	@cmake --build build/asan -j $(JOBS) --target fuzzers
	@tests/fuzz/run.sh build/asan/tests/fuzz build/fuzz $(FUZZ_SECONDS)

lint: build-tests ## formats, names, types, include direction, all checks of clang-tidy over all sources
	@cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@$(STAGE) "lint" cmake/lint.sh $(VENV) $(BUILD) $(JOBS)

lint-quick: build-tests
	@$(STAGE) "lint" cmake/lint.sh $(VENV) $(BUILD) $(JOBS) --quick

bench: build ## the benchmarks, against their rivals in the same run
	@cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@bench/run.sh $(VENV) $(BUILD)

pictures: demo ## pictures of the demo's page, into build/pictures
	@$(VENV)/bin/node bench/page_pictures.ts build/pictures build/demo/page.html build/demo/page.html#holders build/demo/page.html#remedies

messages: setup ## bring new and changed sentences of the sources into messages/*.po, for their translators
	@$(PYTHON) messages/check_messages.py . --write

# MkDocs has an environment of its own, because no test and no build needs it.
.venv-docs/installed: setup/requirements-docs.lock
	@python3 -m venv .venv-docs
	@.venv-docs/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

docs: .venv-docs/installed ## the documentation as a site that needs no network, into build/site
	@NO_MKDOCS_2_WARNING=true .venv-docs/bin/mkdocs build -q --strict
	@echo "build/site/index.html"

format: ## format all sources in place
	@git ls-files '*.h' '*.cc' | xargs -r clang-format -i
	@git ls-files '*.ts' '*.mjs' '*.css' package.json tsconfig.json | xargs $(VENV)/bin/node node_modules/prettier/bin/prettier.cjs --write --log-level=warn
	@$(VENV)/bin/ruff format -q interpose/python messages tests examples tools bench cmake setup

clean: ## remove build products, keep .venv
	@rm -rf build
