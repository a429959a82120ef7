# Every target sets up .venv by itself, from the package index alone. PYTHON=python3.12 chooses the interpreter, and
# EXTRAS=opencl,report what is installed besides what every run needs (pyproject.toml lists what there is).

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/with
UNFINISHED := $(VENV)/unfinished
INTEL := $(VENV)/intel
# Bytecode is kept wherever this runs: without it every run takes 10 seconds more to read the tests.
PYTEST := PYTHONDONTWRITEBYTECODE= $(RUN) -m pytest -n auto --maxprocesses 8 --dist loadgroup --durations 20 \
    --durations-min 0.5
PROGRAMS := core backends drivers cluster reports
CHECKED := $(PROGRAMS) onekernel docs examples tests

# By default what the last set-up of programs chose; at first what programs can use here, CUDA's wheels (900 MB) only for
# a driver.
comma := ,
space := $(subst ,, )
DRIVER := $(shell command -v nvidia-smi || ldconfig -p 2>/dev/null | grep -om1 'libcuda\.so\.1')
HERE := opencl,mpi,report$(if $(DRIVER),$(comma)cuda)
ifeq ($(EXTRAS),)
override EXTRAS := $(or $(shell ls -t $(INSTALLED) 2>/dev/null | grep -vE '\b(docs|test)\b' | head -n 1),$(HERE))
endif

# $(call with,$(EXTRAS)) is the stamp of a set of extras, whatever their order; `all` stands for most of them.
with = $(INSTALLED)/$(subst $(space),$(comma),$(call plain,$(sort $(subst $(comma), ,$(1)))))
plain = $(if $(filter all,$(1)),$(filter-out opencl mpi cuda report test,$(1)),$(1))
EVERYTHING := $(call with,all)

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# Instances beside the checkout are used unless the caller names others.
TSPLIB_HERE := $(realpath ../shared/data)
ifneq ($(TSPLIB_HERE),)
export TSPLIB_DIR ?= $(TSPLIB_HERE)
endif

# Open MPI starts nothing for root without these two; in most containers everybody is root.
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1
endif

.PHONY: help venv compare paper gallery overview docs test test-rest test-all test-long test-machines durations \
    lint dist bench clean

help:
	@echo "make compare   run hill climbing (or WORKLOAD=qap ...) on every device here and write reports/out/compare-ihc.md"
	@echo "make paper     run a paper's tables and figures: PAPER=luong2013 [TABLE=4] [FIGURE=..] [SCALE=quick] [BUDGET=30m],"
	@echo "               or list them"
	@echo "make overview  run ten workloads on every device here and write reports/out/overview.md"
	@echo "make test      run the quick tests, seven minutes in a fresh clone on two cores; make test-all the slow ones too,"
	@echo "               make test-machines some on made-up machines, make test-long all: kills, hosts, random examples"
	@echo "make lint      check style, types and formatting; make dist the packages that it builds in dist"
	@echo "make bench     measure the speeds that the project promises"
	@echo "make gallery   make reports/gallery's pages from reports/gallery's records"
	@echo "make docs      build the site into docs/_build/html"
	@echo "make venv      only set up .venv, for a small one: EXTRAS=opencl,report; make clean removes it, all caches and"
	@echo "               reports/out"

# Bytecode too, for environments in which Python writes none: 64 ranks that compile the sources start a third later.
COMPILE := @$(RUN) -m compileall -q $(PROGRAMS) onekernel

venv: $(call with,$(EXTRAS))
	$(COMPILE)

# What is installed is a stamp for each set of extras. While a set-up runs they all lie in `unfinished`: one that was
# interrupted or failed leaves them there, and the next one starts over.
$(INSTALLED)/%: pyproject.toml constraints.txt cluster/setup.py
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { \
	    echo "error: PYTHON=$(PYTHON) is $$($(PYTHON) --version 2>&1 || true), expected Python 3.11 to 3.14;" \
	         "name one of them: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 2; }
	@if [ -e $(UNFINISHED) ] || ! $(RUN) -m pip --version >/dev/null 2>&1; then rm -rf $(VENV); fi
	@mkdir -p $(INSTALLED) && mv $(INSTALLED) $(UNFINISHED)
	@$(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(RUN) -m pip install --quiet --editable '.[$*]'
	$(RUN) -m cluster.setup
	@touch $(UNFINISHED)/$* && mv $(UNFINISHED) $(INSTALLED)

# Only the tests of wide launch shapes need Intel's OpenCL runtime for CPUs (700 MB); without it they are left out.
$(INTEL): $(EVERYTHING)
	@if [ "$$(uname -sm)" != "Linux x86_64" ]; then \
	    echo "wide launch shapes are not tested: Intel's OpenCL runtime is for x86-64 Linux, this is $$(uname -sm)"; \
	elif PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	    $(RUN) -m pip install --quiet --retries 1 --editable '.[opencl-intel]'; then touch $(INTEL); \
	else echo "wide launch shapes are not tested: pip could not install .[opencl-intel]"; fi

compare: venv
	$(RUN) -m drivers.compare $(WORKLOAD)

paper: venv
	$(RUN) -m drivers.reproduce $(if $(PAPER),$(PAPER),--list) $(if $(TABLE),--table $(TABLE)) \
	    $(if $(FIGURE),--figure $(FIGURE)) $(if $(SCALE),--scale $(SCALE)) $(if $(BUDGET),--budget $(BUDGET))

overview: venv
	$(RUN) -m drivers.overview

PAGES := $(call with,docs report)
TESTED := $(EVERYTHING) $(INTEL) $(PAGES)

test: $(TESTED)
	$(COMPILE)
	$(PYTEST) -m "not slow and not long"

test-rest: $(TESTED)
	$(COMPILE)
	$(PYTEST) -m "slow and not long"

test-all: $(TESTED)
	$(COMPILE)
	$(PYTEST) -m "not long"

test-long: $(TESTED)
	$(COMPILE)
	ONEKERNEL_EXAMPLES=new $(PYTEST) --order-seed $(or $(SEED),$(shell date +%s))

test-machines: $(TESTED)
	$(COMPILE)
	$(RUN) -m tests.machines $(MACHINE)

durations: $(TESTED)
	$(COMPILE)
	$(PYTEST) -m "not long" --record-durations

lint: $(or $(wildcard $(EVERYTHING)),$(call with,report test))
	$(RUN) -m ruff check $(CHECKED)
	$(RUN) -m ruff format --check $(CHECKED)
	$(RUN) -m mypy

# The wheel is built from the source package. twine brings 16 packages, so it runs in an environment of its own.
dist: $(or $(wildcard $(EVERYTHING)),$(call with,report test))
	rm -rf dist
	$(RUN) -m uv build --quiet --no-build-isolation --python $(RUN)
	$(RUN) -m uv tool run --system-certs --quiet --from twine==7.0.0 twine check --strict dist/*

bench: venv
	$(RUN) -m drivers.bench --reference-programs

gallery: venv
	$(RUN) -m reports gallery

docs: $(PAGES)
	$(RUN) -m sphinx -W --keep-going -q -E -b html -c docs -d docs/_build/kept . docs/_build/html

clean:
	rm -rf .venv .venv-* build dist docs/_build reports/out .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
