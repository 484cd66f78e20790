"""Samples enter, leave and change clusters; readings are taken. Python calls what is named here."""

from icvi.kernels.moments.change_many import change_many as change_many
from icvi.kernels.moments.change_one import change_one as change_one
from icvi.kernels.moments.join import join as join
from icvi.kernels.moments.read import read as read
from icvi.kernels.moments.scale import scale as scale
from icvi.kernels.moments.scale import show_all as show_all
from icvi.kernels.moments.update import update as update
from icvi.kernels.moments.update_many import update_many as update_many
