# Everything a developer types. `make setup` runs by itself whenever something it built from has changed.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input
BASICS := $(VENV)/.basics
PACKAGES := $(VENV)/.packages
INSTALLED := $(VENV)/.installed
# make setup compiles the kernel for the instruction set of this machine, make setup SETS="generic v3 v4" for these.
# Packages have all of them (CMakeLists.txt).
V3 := avx2 fma bmi2
V4 := $(V3) avx512f avx512vl avx512dq avx512bw
HAS = $(shell for flag in $(1); do grep -qw $$flag /proc/cpuinfo 2>/dev/null || exit; done; echo yes)
SETS ?= $(if $(wildcard /proc/cpuinfo),$(if $(call HAS,$(V4)),v4,$(if $(call HAS,$(V3)),v3,generic)))
EMPTY :=
KERNEL := $(VENV)/.kernel-$(subst $(EMPTY) $(EMPTY),-,$(strip $(SETS)))
TEST_ARGS ?= -q

SOURCES := CMakeLists.txt $(shell find kernels bindings cmake -type f 2>/dev/null)
CPP := $(shell find kernels bindings tests -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' 2>/dev/null)

# The kernel is compiled by CMake in a folder of its own and put beside the Python files, where .venv finds both.
# $(call BUILD_KERNEL,folder,options of CMake)
define BUILD_KERNEL
@command -v "$${CXX:-c++}" >/dev/null \
  || { echo "make: no C++ compiler found; on Debian or Ubuntu: apt-get install g++, elsewhere set CXX" >&2; exit 1; }
@$(BIN)/cmake -S . -B $(1) -G Ninja --log-level=WARNING -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
  -DPython_EXECUTABLE=$(abspath $(PY)) -DCMAKE_BUILD_TYPE=Release $(2) >/dev/null
@$(BIN)/cmake --build $(1) -- --quiet
@install -m 755 $(1)/_kernel*.so src/sarrus/
endef

# What the build and the tests need, read from the one place that lists it (the GPU extra is for machines that have one; the
# extra wasm comes when it is needed; make bridges installs torch, jax, casadi and crocoddyl); names as arguments: these
# packages alone.
define LIST_REQUIREMENTS
import re, sys, tomllib
table = tomllib.load(open("pyproject.toml", "rb"))
extras = table["project"]["optional-dependencies"]
wanted = [table["build-system"]["requires"], table["project"]["dependencies"]]
wanted += [extras[name] for name in extras
           if name not in ("gpu", "wasm", "torch", "jax", "casadi", "crocoddyl")]
lines = sorted({line for group in wanted for line in group})
print("\n".join(line for line in lines if not sys.argv[1:] or re.match(r"[\w-]+", line)[0] in sys.argv[1:]))
endef
export LIST_REQUIREMENTS

.PHONY: help setup dev demo test slow bridges bench gpu sanitize wasm wasm-check browser gallery docs wheel lint format clean

help:
	@echo "make demo     a five-bar falls through its singular pose: a table, a picture under out/"
	@echo "make test     lint, build what is needed and run the tests (make slow: the long ones)"
	@echo "make setup    only build .venv and the compiled kernels"
	@echo "make dev      compile the kernel fast for work on it: -Og, one instruction set; make setup compiles it in full again"
	@echo "make bridges  installs PyTorch, JAX, CasADi and Crocoddyl and runs the tests of bridges to them"
	@echo "make bench    timings, beside Pinocchio and MuJoCo"
	@echo "make gpu      tests and figures of recorded code on an NVIDIA GPU (GPU_PYTHON: a Python that has CuPy)"
	@echo "make sanitize the kernel harness, the bindings and fuzzed calls under ASan and UBSan, for each instruction set"
	@echo "make wasm     only the kernel of studios, as WebAssembly (make wasm-check: compiles it again and compares)"
	@echo "make browser  installs node and Chromium where apt-get and root allow it; tests of studios need them"
	@echo "make gallery  the figures of the papers, under out/"
	@echo "make docs     the documentation as a site: out/site/index.html"
	@echo "make wheel    sdist and wheel in dist/, installed into a bare environment without compiler, and tried"
	@echo "make lint     ruff, mypy, clang-format"
	@echo "make format   let ruff and clang-format fix what they can"
	@echo "make clean    remove .venv, build/, out/, the kernel and caches"
	@echo "make help     this list"

setup: $(KERNEL) $(PACKAGES)
	@$(PY) bindings/wasm/build.py --install

$(PY):
	@test -n "$(PYTHON)" || { echo "make setup: no python3.11 (or newer python3) on the PATH; install one, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make setup: sarrus needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "make setup: $(PYTHON) cannot make a virtual environment; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }

# Three attempts, because package indexes hiccup. $(call INSTALL_PACKAGES,names, or none for all)
define INSTALL_PACKAGES
@echo "make setup: installing packages into $(VENV)"
@$(PY) -c "$$LIST_REQUIREMENTS" $(1) > $(VENV)/requirements.txt
@for n in 1 2 3; do $(PIP) install -q -r $(VENV)/requirements.txt && break; \
  test $$n -lt 3 || { echo "make setup: pip failed three times; is the package index reachable?" >&2; exit 1; }; \
  echo "make setup: attempt $$n failed, trying again in $$((5 * n)) s" >&2; sleep $$((5 * n)); done
@touch $@
endef

# What the kernel and make demo need; the rest comes with make setup.
$(BASICS): pyproject.toml | $(PY)
	$(call INSTALL_PACKAGES,cmake matplotlib nanobind ninja numpy scikit-build-core scipy)

$(PACKAGES): $(BASICS)
	$(call INSTALL_PACKAGES)

# Makes .venv see src/ as it is, so that moved files need no new installation; the compiled module comes from BUILD_KERNEL.
$(INSTALLED): $(BASICS)
	@$(PIP) install -q --no-deps --no-build-isolation --config-settings wheel.cmake=false --config-settings wheel.py-api=py3 --config-settings editable.mode=inplace -e .
	@touch $@

$(KERNEL): $(SOURCES) $(INSTALLED)
	@echo "make setup: compiling the kernel"
	@rm -f $(VENV)/.kernel-*
	$(call BUILD_KERNEL,build/release,"-DSARRUS_VARIANTS=$(subst $(EMPTY) $(EMPTY),;,$(strip $(SETS)))")
	@touch $@

# For work on the kernel. An edited header recompiles what includes it; nearly all of that time is code generation, so
# nothing is forced inline (SARRUS_HD), -Og optimizes little, and two of four sizes of matrices are compiled. The stamp
# goes, so that the next make setup or make test puts the full kernel back.
DEV_FLAGS := -Og -DNDEBUG -Dalways_inline=__unused__
dev: VARIANT := $(if $(call HAS,$(V3)),v3,generic)
dev: $(INSTALLED) $(PACKAGES)
	@rm -f $(VENV)/.kernel-*
	$(call BUILD_KERNEL,build/dev,-DSARRUS_VARIANTS=$(VARIANT) -DSARRUS_FEW_SIZES=ON -DCMAKE_CXX_FLAGS_RELEASE="$(DEV_FLAGS)")
	@echo "make dev: src/sarrus has the kernel for $(VARIANT) at -Og"

demo: $(KERNEL)
	@$(PY) examples/demo.py

# The kernel of studios (sarrus.viz.studio). make setup compiles it too, where it is missing or older than its sources
# and the package ziglang is installed or can be; wheels and sdists have it.
WASM := src/sarrus/viz/studio/kernel.wasm
wasm: $(PACKAGES)
	@$(PY) bindings/wasm/build.py --install --required

wasm-check: wasm
	@rm -f build/wasm/kernel.wasm
	@$(PY) bindings/wasm/build.py --install --required --out build/wasm/kernel.wasm
	@cmp build/wasm/kernel.wasm $(WASM) && echo "make wasm-check: $(WASM) is what the sources give"

# Tests that find neither node nor Chromium are skipped and say so.
browser:
	@command -v node >/dev/null && command -v chromium >/dev/null && exit 0; \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	    apt-get update -q >/dev/null 2>&1; DEBIAN_FRONTEND=noninteractive apt-get install -qy nodejs chromium >/dev/null 2>&1 \
	    || echo "make browser: apt-get could not install nodejs and chromium; tests of studios will be skipped"; \
	  else echo "make browser: no root or no apt-get; tests of studios need node and chromium, else they are skipped"; fi

# Two workers, one thread each: small matrices gain nothing from a threaded BLAS and lose much on a busy machine.
test: lint setup browser
	OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n 2 $(TEST_ARGS)

slow: setup
	$(PY) -m pytest -n 2 $(TEST_ARGS) -m slow

# Bridges with gradients: packages of hundreds of megabytes that make setup leaves out. PyTorch's index for CPUs is given
# in PIP_EXTRA_INDEX_URL where pip would take a build for CUDA.
bridges: setup
	$(PIP) install -q torch jax casadi crocoddyl
	$(PY) -m pytest -n 2 $(TEST_ARGS) tests/bridge

bench: setup
	$(PY) -m bench

# On a machine with an NVIDIA GPU. CuPy comes from the extra `gpu`, or with the Python that GPU_PYTHON names, which then
# needs NumPy, SciPy, pytest and the kernel compiled for it.
GPU_PYTHON ?= $(PY)
gpu:
	@$(GPU_PYTHON) -c "import sarrus" 2>/dev/null || $(MAKE) setup
	@$(GPU_PYTHON) -c "import cupy" 2>/dev/null || $(PIP) install -q "cupy-cuda12x>=13"
	$(GPU_PYTHON) -m pytest $(TEST_ARGS) tests/tracing
	$(GPU_PYTHON) -m bench.gpu
	$(GPU_PYTHON) -m bench.gpu --mjx

# ASan and all of UBSan that a module loaded by Python allows (vptr needs the types of libstdc++ inside it), in a CMake
# folder of its own. The kernel goes beside a copy of the Python files; src/ keeps the kernel it has. The finder of the
# editable installation would prefer src/ to PYTHONPATH: sitecustomize takes it away. nvcc does
# not run with ASan loaded. Compiling takes ten minutes or more.
SANITIZED := build/sanitize/python
SANITIZE := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
SANITIZE_OPTIONS := ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 OPENBLAS_NUM_THREADS=1
SANITIZE_ENV = LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libubsan.so)" \
  $(SANITIZE_OPTIONS) PYTHONPATH=$(SANITIZED):.
SANITIZED_TESTS ?= tests/laws/test_dynamics.py tests/laws/test_derivatives.py tests/laws/test_sizes.py \
  tests/simulation/stepping tests/simulation/run/test_recorder.py tests/simulation/test_large.py tests/control/limits \
  tests/control/hierarchy/test_levels.py
SANITIZED_COUNT ?= 3000
sanitize: SETS := generic $(if $(call HAS,$(V3)),v3) $(if $(call HAS,$(V4)),v4)
sanitize: $(INSTALLED) $(PACKAGES)
	@$(BIN)/cmake -S . -B build/sanitize/cmake -G Ninja --log-level=WARNING -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DPython_EXECUTABLE=$(abspath $(PY)) -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$(SANITIZE)" \
	  -DSARRUS_VARIANTS="$$(echo $(SETS) | tr ' ' ';')" >/dev/null
	@$(BIN)/cmake --build build/sanitize/cmake -- --quiet
	@rm -rf $(SANITIZED) && mkdir -p $(SANITIZED) && cp -r src/sarrus $(SANITIZED)/ && rm -f $(SANITIZED)/sarrus/_kernel*.so
	@install -m 755 build/sanitize/cmake/_kernel*.so $(SANITIZED)/sarrus/
	@echo 'import sys; sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]' \
	  > $(SANITIZED)/sitecustomize.py
	@$(SANITIZE_ENV) $(PY) -c "import sarrus; assert '$(SANITIZED)' in sarrus._kernel.__file__, sarrus._kernel.__file__"
	@set -e; for isa in $(SETS); do echo "== $$isa"; \
	  march=$$(test $$isa = generic || echo -march=x86-64-$$isa); \
	  $(SANITIZE_ENV) SARRUS_HARNESS_FLAGS="$(SANITIZE) $$march" $(PY) -m pytest $(TEST_ARGS) -k "not device_code" tests/kernels; \
	  $(SANITIZE_ENV) SARRUS_ISA=$$isa $(PY) -m pytest $(TEST_ARGS) $(SANITIZED_TESTS); \
	  $(SANITIZE_ENV) SARRUS_ISA=$$isa $(PY) -m bench.fuzz --what api --count $(SANITIZED_COUNT) --limit 200; \
	done

gallery: setup
	@set -e; for script in examples/gallery/*.py; do echo "== $$script"; $(PY) "$$script"; done

docs: setup
	OPENBLAS_NUM_THREADS=1 $(PY) -m sphinx -q -W --keep-going -j auto -b html docs out/site
	@echo "make docs: out/site/index.html"

# The wheel is built from the sdist, as pip does where there is no wheel. Then both are installed as users do, the wheel
# with a PATH on which there is no compiler.
BARE := build/bare
wheel: wasm
	@rm -rf dist $(BARE)
	$(PY) -m build --outdir dist
	@$(PY) -m venv $(BARE) && $(BARE)/bin/python -m pip --disable-pip-version-check -q install numpy scipy
	@mkdir $(BARE)/path && ln -s $(abspath $(BARE)/bin/python) $(BARE)/path/python
	@env -u CXX -u CC PATH=$(abspath $(BARE)/path) $(abspath $(BARE)/bin/python) -m pip --disable-pip-version-check -q \
	  install --no-index --no-deps dist/sarrus-*.whl
	@env -u CXX -u CC PATH=$(abspath $(BARE)/path) $(abspath $(BARE)/bin/python) tests/smoke.py
	@ls -l dist

lint: $(PACKAGES)
	$(eval START := $(shell date +%s))
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	@echo "make lint: $$(( $$(date +%s) - $(START) )) s"

format: $(PACKAGES)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

clean:
	rm -rf $(VENV) build dist out src/sarrus/_kernel*.so $(WASM) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
