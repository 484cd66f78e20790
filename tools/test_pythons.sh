#!/bin/sh
# Run every test on each supported Python that this machine has, and say which ones it has not.
# Options are handed to pytest: sh tools/test_pythons.sh -m 'not slow'
set -u

supported="3.11 3.12 3.13"
hoped_for="3.14" # where Numba installs

# A command may be there and not run, such as a shim of pyenv for a version that is not chosen.
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
for version in $supported $hoped_for; do
    if ! python=$(find_python "$version"); then
        absent="$absent $version"
        continue
    fi
    venv=.venv-$version
    constraints=constraints.txt
    echo "== Python $version ($python) =="
    mkdir -p "$venv"
    if [ "$version" != 3.11 ]; then
        # The newest numpy that Numba takes; those of today have left Python 3.11 behind.
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
