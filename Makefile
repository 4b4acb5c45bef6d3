# Everything starts here: `make demo` and `make test` need Python >= 3.11 and nothing else.
PYTHON ?= python3
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Frameworks: quiet, and on the CPU, where every machine agrees.
export TF_CPP_MIN_LOG_LEVEL ?= 3
export TF_ENABLE_ONEDNN_OPTS ?= 0
export CUDA_VISIBLE_DEVICES ?= -1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start kdoctor some hundred times: without bytecode each would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo docs test test-all lint types floors pytest growth cures prove backends proofs-page rule-index mutants old-oracle addons-oracle contrib-oracle api-data environments environment-data corpus packages verified migration package-imports api-check golden record clean model-files

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

demo: $(STAMP) ## Scan, fix and run legacy Keras code, before your eyes
	@$(BIN)/python tools/demo.py

test: lint types floors pytest ## Everything that must hold: format, lint, types, floors, tests

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy --strict kdoctor

floors: $(STAMP)
	$(BIN)/lint-imports

# Of what examples multiply, a part is drawn anew each time: `make test-all` takes all of it.
SAMPLE ?= --sample
test-all: ## The same without drawing: all cases of the tests that are marked as sampled
	$(MAKE) test SAMPLE=

# By file: what a module sets up once (a corpus, packages, proofs) is not set up in each process.
# In the order of tests/conftest.py: the files that take longest first.
pytest: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(SAMPLE)

growth: $(STAMP) ## Grow each construct of Python to 200, in scans and fixes: work stays below n·log n
	KDOCTOR_GROWTH=200 $(BIN)/python -m pytest -n $(JOBS) tests/engine/test_growth.py

docs: $(STAMP) ## Build the documentation into site/: open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

prove: $(STAMP) ## Run every rewrite on Keras 2 and Keras 3 (on each backend that is here), record what holds
	$(BIN)/python -m kdoctor.verify.prove
	$(BIN)/python tools/proofs_page.py

# Where pip would take a PyTorch of several GB: TORCH_INDEX=https://download.pytorch.org/whl/cpu
# What examples import as well: without them 13 of KD704 and KD705 cannot raise what they are about.
backends: $(STAMP) ## Install JAX, PyTorch and packages of examples, so that `make prove` runs on all
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet 'jax==0.10.2' 'jaxlib==0.10.2'
	$(BIN)/python -m pip install --quiet --no-deps tensorflow_addons==0.23.0 tensorflow_probability==0.25.0 tensorflow_model_optimization==0.8.1 keras_vggface==0.6
	$(BIN)/python -m pip install --quiet 'setuptools<81' 'typeguard<3' decorator cloudpickle dm-tree keras_applications

proofs-page: $(STAMP) ## Write docs/proofs.md anew from the proof record
	$(BIN)/python tools/proofs_page.py

rule-index: $(STAMP) ## Write kdoctor/rules/index.json anew: what a scan asks of rules before it imports one
	$(BIN)/python tools/rule_index.py

package-imports: $(STAMP) ## Import packages of Keras 2 in their last release, record which cannot be (KD704)
	$(BIN)/python -m tools.package_imports

# Python 3.7 and TensorFlow 1.15: for x86-64 only.
OLD_PYTHON ?= $(HOME)/.pyenv/versions/3.7.16/bin/python
OLD := $(HOME)/.cache/kdoctor/old-oracle
OLD_KERAS := 2.3.1 2.2.4

old-oracle: $(STAMP) $(OLD_KERAS:%=$(OLD)/%/.installed) ## Run what is gone on keras 2.3.1 and 2.2.4, and record it
	$(BIN)/python -m tools.old_oracle $(foreach release,$(OLD_KERAS),$(release)=$(OLD)/$(release)/bin/python)
	$(BIN)/python -m tools.old_oracle.helpers $(OLD)/2.2.4/bin/python

$(OLD)/%/.installed:
	$(OLD_PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet 'tensorflow==1.15.5' 'keras==$*' 'h5py<3' 'protobuf<3.21' 'numpy<1.19'
	touch $@

# Python 3.9 to 3.11, for TensorFlow 2.14.
ADDONS_PYTHON ?= python3.11
ADDONS := $(HOME)/.cache/kdoctor/addons-oracle

addons-oracle: $(STAMP) $(ADDONS)/.installed ## Run what takes the place of tensorflow_addons on that package, and record it
	$(BIN)/python -m tools.addons_oracle $(ADDONS)/bin/python

$(ADDONS)/.installed:
	$(ADDONS_PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet 'tensorflow-cpu==2.14.1' 'tensorflow-addons==0.23.0' 'numpy<2' 'nvidia-cuda-runtime-cu11==11.8.89'
	touch $@

contrib-oracle: $(STAMP) $(OLD)/2.2.4/.installed ## Run what takes the place of keras_contrib on that package (CONTRIB=CHECKOUT)
	$(BIN)/python -m tools.contrib_oracle $(OLD)/2.2.4/bin/python $(CONTRIB)

# Folder of the files; a few GB, and hours for all of them: --one-in and --most take some.
MODEL_FILES ?= $(HOME)/.cache/kdoctor/model-files

model-files: $(STAMP) ## Write models by releases from keras 2.2.4 on, load them by Keras 3, and compare the verdicts (hours)
	$(BIN)/python -m tools.model_files $(MODEL_FILES) $(ARGS)

cures: $(STAMP) ## Run every cure and command that explain tells, and record what ran (asks a package index)
	$(BIN)/python tests/diagnose/cures.py --record
	$(BIN)/python tests/diagnose/commands.py --record
	KDOCTOR_CURES=all $(BIN)/python -m pytest -n0 tests/diagnose/test_cures_from_names.py

mutants: $(STAMP) ## Break each rewrite in each way, and the reference: all of it must be caught
	$(BIN)/python -m kdoctor.verify.mutate --all
	$(BIN)/python tests/reference/sabotage.py

api-data: $(STAMP) ## Read the API of released Keras wheels into kdoctor/keras_api/data
	$(BIN)/python -m tools.api_data

api-check: $(STAMP) ## Hold the API data to installed releases of Keras, from 2.3 on
	$(BIN)/python -m tools.check_api

environments: $(STAMP) ## Build broken environments, cure them as `kdoctor env` says, and record it (minutes)
	$(BIN)/python -m tools.broken_environments

environment-data: $(STAMP) ## Ask PyPI what releases need, and run TensorFlow beside newer packages (an hour)
	$(BIN)/python -m tools.environment_data
	$(BIN)/python -m tools.environment_data.neighbours

corpus: $(STAMP) ## Scan and round-trip the standard library and site-packages, every file; fix and scan again
	$(BIN)/python -m tools.check_corpus
	$(BIN)/python -m tools.check_fixes

packages: $(STAMP) ## Scan and fix real packages of Keras 2 times, and print a table
	$(BIN)/python -m tools.check_packages

verified: $(STAMP) ## Verify the definitions of the packages of the benchmark, and print a table
	$(BIN)/python -m tools.check_verified

migration: $(STAMP) ## Run the tests of real packages on Keras 2 and 3, before and after the fix (hours); MIGRATION=--unseen
	$(BIN)/python -m benchmarks.migration --jobs $(JOBS) $(MIGRATION)

golden: $(STAMP) ## Write tests/golden anew from fixtures/ (then read the diff)
	$(BIN)/python tools/golden.py

record: $(STAMP) ## Record the runs and figures in README.md and docs/ anew (then read the diff)
	$(BIN)/python tools/record.py

clean: ## Remove the environment and all caches
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .kdoctor_cache build dist

NEEDED := --editable '.[verify]' --group dev

# Built anew only when the project's settings change. pip < 25.1 knows no dependency groups.
# uv takes half of the time that pip does; pip is asked where uv knows no way to an index that pip has.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kdoctor needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Say which: make PYTHON=python3.12 …")'
	@echo "Setting up $(VENV) (TensorFlow included: some minutes the first time) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode $(NEEDED) \
	  || $(BIN)/python -m pip install --quiet $(NEEDED)
	@touch $@
