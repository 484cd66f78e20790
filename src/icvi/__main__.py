"""``python -m icvi`` is the command line."""

from icvi.cli import main

main(prog_name="icvi")
