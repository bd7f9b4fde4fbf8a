# The checkout is run in place: .ci/setup brings the pinned tools into .venv and does nothing the second time.
# PYTHON=python3.12, for example, chooses the interpreter; the default is the first found from 3.11 on.
# OPTIONS="--target adapter:make --target-path ../mine" has `make verify` check that target instead of the cache that ships;
# OPTIONS="--profile dev --target tvm" has `make conformance` check that third-party manager alone, and less far.
RUN := .venv/bin/python -m
# JUNIT=reports/junit.xml has the tests of `make test` leave a JUnit file there.

# The tests start some two hundred Python processes: what one has compiled, the others need not compile again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: verify test deep targets conformance setup packages simulators suite gate lint types clean
.NOTPARALLEL:

verify: setup $(if $(findstring --target,$(OPTIONS)),,simulators) ; $(RUN) pytest verify/ $(OPTIONS)
test: suite gate lint types
deep: test targets ; $(RUN) pytest verify/ tests/test_counts.py --profile deep && $(RUN) mutants --generic && $(RUN) mutants --rtl && $(RUN) verify conformance --profile deep --require-all

targets: setup ; $(RUN) verify targets
conformance: setup ; $(RUN) verify conformance $(OPTIONS)

setup: ; @.ci/setup
packages: ; @.ci/packages
simulators: ; @.ci/simulators
suite: setup packages simulators ; $(RUN) pytest verify/ tests/ -n auto --require-rtl $(if $(JUNIT),--junitxml=$(JUNIT))
gate: setup ; $(RUN) mutants --executor process && $(RUN) mutants --oracle --executor process && $(RUN) mutants equivalence --check
lint: setup ; $(RUN) ruff check && $(RUN) ruff format --check
types: setup ; $(RUN) mypy
clean: ; rm -rf .venv .venvs .builds reports .hypothesis .mypy_cache .ruff_cache
