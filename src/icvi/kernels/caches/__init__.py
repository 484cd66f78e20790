"""What readings need besides moments, kept up to date as clusters change: steps of plans."""

from icvi.kernels.caches.between import refresh_between as refresh_between
from icvi.kernels.caches.covariance import refresh_covariance as refresh_covariance
from icvi.kernels.caches.extremes import refresh_extremes as refresh_extremes
from icvi.kernels.caches.gaussian import refresh_gaussian as refresh_gaussian
from icvi.kernels.caches.mixtures import refresh_mixtures as refresh_mixtures
from icvi.kernels.caches.pair_sums import refresh_logarithms as refresh_logarithms
from icvi.kernels.caches.pooled import refresh_pooled as refresh_pooled
from icvi.kernels.caches.spread import refresh_spread as refresh_spread
from icvi.kernels.caches.sweep import sweep_all as sweep_all
