#!/bin/sh
# Create .venv and install icvi with its development extras. If Python has no venv module, install
# Debian's python3-venv as root; otherwise print how to install it.
set -eu

python=${PYTHON:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "icvi needs Python 3.11 or later as '$python' (or: make PYTHON=/path/to/python ...)" >&2
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq python3-venv
    else
        echo "Python's venv module is missing. Install it first: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi

[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
