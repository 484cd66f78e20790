#!/bin/sh
# Run the tests in their own virtual environment; create it if it is missing.
#
#     [EXTRAS=dev] sh tools/run_tests.sh VENV PYTHON CONSTRAINTS [PYTEST OPTION ...]
set -eu

venv=$1 python=$2 constraints=$3
shift 3

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --constraint "$constraints" --editable ".[${EXTRAS:-dev}]"

# Numba's cache is valid for one version of Numba: environments that share it compile every time.
NUMBA_CACHE_DIR=$PWD/$venv/numba-cache
export NUMBA_CACHE_DIR

exec "$venv/bin/python" -m pytest -n auto --dist loadfile --no-loadscope-reorder "$@"
