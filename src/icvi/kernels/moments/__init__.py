"""Samples enter, leave and change clusters; readings are taken. Python calls what is named here."""

from icvi.kernels.moments.adding import update as update
from icvi.kernels.moments.adding import update_many as update_many
from icvi.kernels.moments.changing import change_many as change_many
from icvi.kernels.moments.changing import change_one as change_one
from icvi.kernels.moments.clusters import join as join
from icvi.kernels.moments.clusters import scale as scale
from icvi.kernels.moments.clusters import show_all as show_all
from icvi.kernels.moments.groups import arrange as arrange
from icvi.kernels.moments.groups import score_groups as score_groups
from icvi.kernels.moments.plan import read as read
