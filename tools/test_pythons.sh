#!/bin/sh
# Run every test on each supported Python of this machine, and list the ones that are missing.
# Options are passed to pytest: sh tools/test_pythons.sh -m 'not slow'
set -u

supported="3.11 3.12 3.13"
experimental="3.14" # if Numba installs on it

# A command may exist and fail, such as a pyenv shim for a version that is not selected.
find_python() {
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" \
            2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

passed="" failed="" absent=""
for version in $supported $experimental; do
    if ! python=$(find_python "$version"); then
        absent="$absent $version"
        continue
    fi
    venv=.venv-$version
    constraints=constraints.txt
    echo "== Python $version ($python) =="
    mkdir -p "$venv"
    if [ "$version" != 3.11 ]; then
        # Use the newest numpy that Numba supports: those releases no longer support Python 3.11.
        constraints=$venv/constraints.txt
        grep -v '^numpy==' constraints.txt >"$constraints"
    fi
    if sh tools/run_tests.sh "$venv" "$python" "$constraints" "$@"; then
        passed="$passed $version"
    else
        failed="$failed $version"
    fi
done

echo "passed:${passed:- none}; failed:${failed:- none}; not on this machine:${absent:- none}"
[ -z "$failed" ] && [ -n "$passed" ]
