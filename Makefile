# The commands a newcomer types; each does what it needs first.

.PHONY: help setup build test test-all sanitize core-test bars lines demo clean install uninstall wheel

PREFIX ?= /usr/local

help:
	@echo "make demo       an MPI program on 24 emulated hosts in six sites; sets up and builds just that"
	@echo "make test       set up, build, and run every test"
	@echo "make test-all   all that again in every shape, and with sanitizers: some hours"
	@echo "make sanitize   unit tests and some MPI programs, with sanitizers for addresses and for threads"
	@echo "make core-test  only the core's unit tests: needs no MPI"
	@echo "make bars       measure what is to be kept to: for an hour; ALL=1 all, in six; ONLY=NAME; LIST=1"
	@echo "make lines      how large the project is"
	@echo "make build      build the libraries for every MPI found"
	@echo "make install    build, and install below PREFIX=$(PREFIX); make uninstall removes it again"
	@echo "make wheel      build, and pack libraries and command into dist/mutirao-*.whl, for pip install"
	@echo "make setup      install what is missing; MPI and Python go into .env"
	@echo "make clean      remove what was built (.env stays; remove it by hand)"

setup:
	@scripts/setup.sh

build: setup
	@scripts/build.sh

install: build
	@cmake --install build --prefix "$(abspath $(PREFIX))" >/dev/null
	@echo "installed below $(abspath $(PREFIX))"

uninstall:
	@packaging/uninstall.sh "$(abspath $(PREFIX))"

wheel: build
	@scripts/wheel.sh

test:
	@scripts/test.sh

test-all:
	@scripts/test.sh --all

sanitize:
	@scripts/test.sh --sanitize

core-test:
	@scripts/test.sh --core

# Measures on a quiet machine; not for continuous integration.
bars: build
	@PYTHONPATH=python:studies .env/cli/bin/python -P -m mutirao_studies.bars \
		$(if $(LIST),--list,$(if $(ONLY),--only $(ONLY),$(if $(filter-out 0,$(ALL)),--all)))

lines:
	@scripts/lines.py

demo:
	@scripts/setup.sh --demo
	@scripts/build.sh --demo
	./mutirao study demo

clean:
	rm -rf build
