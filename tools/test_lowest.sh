#!/bin/sh
# Run every test with the lowest supported versions of the dependencies. river requires a numpy, and
# so a Numba, far above our own bounds: the tests that use river run in a second environment.
# Options are passed to pytest.
set -eu

python=${PYTHON:-python3.11}
extras=art,plot,pandas,arrow,stream,redis,kafka,report,metrics,spark
# The pages of docs/ use river, and so do examples in the docstrings of these folders.
with_river="$(grep -rlw --include='test_*.py' river tests) tests/test_docs.py"
with_river="$with_river src/icvi/compat src/icvi/watching/labellers"
ignored=$(printf -- '--ignore=%s ' $with_river)

# Not our warnings: old versions of packages use what newer versions of their dependencies deprecate,
# and pyspark 4.1 leaves its sockets to the collector.
set -- -W default::DeprecationWarning -W 'ignore:unclosed <socket:ResourceWarning' "$@"

EXTRAS=$extras,test sh tools/run_tests.sh .venv-lowest "$python" constraints-lowest.txt \
    $ignored "$@"

mkdir -p .venv-lowest-river
grep -v -e '^numpy==' -e '^numba==' constraints-lowest.txt >.venv-lowest-river/constraints.txt
EXTRAS=$extras,river,docs,test sh tools/run_tests.sh .venv-lowest-river "$python" \
    .venv-lowest-river/constraints.txt $with_river "$@"
