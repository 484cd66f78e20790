"""The comparative study: the experiments of the paper, in many orders of presentation."""

from icvi import optional

# Here, so that a study that starts can finish, and one extra is named for all packages.
for _package in ("sklearn", "matplotlib", "pyarrow", "jinja2"):
    optional.check(_package, "study", "a study")
