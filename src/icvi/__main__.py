"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

from icvi import interrupting


def run() -> None:
    """Run the command, and end."""
    interrupting.begin()
    try:
        from icvi.cli import main

        main(prog_name="icvi")
    finally:
        interrupting.finish()


if __name__ == "__main__":
    run()
