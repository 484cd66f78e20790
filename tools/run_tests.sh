#!/bin/sh
# Run tests in an environment of their own, which is made where it is missing.
#
#     [EXTRAS=dev] sh tools/run_tests.sh VENV PYTHON CONSTRAINTS [OPTION OF PYTEST ...]
set -eu

venv=$1 python=$2 constraints=$3
shift 3

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --constraint "$constraints" --editable ".[${EXTRAS:-dev}]"

# Numba's cache holds one version of Numba; environments that shared it would compile each time.
NUMBA_CACHE_DIR=$PWD/$venv/numba-cache
export NUMBA_CACHE_DIR

exec "$venv/bin/python" -m pytest -n auto --dist loadfile --no-loadscope-reorder "$@"
