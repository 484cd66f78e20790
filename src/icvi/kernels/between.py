"""B and beta_T: sums over all clusters that every sample changes, because mu moves."""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.compiling import step
from icvi.kernels.sums import dot, squares_about, total
from icvi.kernels.view import arrays


@step
def refresh_between(A_pointer, C_pointer, G_pointer, meta_pointer, parameters):
    """sep_i = ||v_i - mu||^2 and B = sum n_i sep_i; beta_T = mean of ||v_i - vbar||^2.

    B is summed, never taken as CP_0 - W: the difference loses every digit when B is small.
    """
    A, C, _, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    k, d = m[L.K], m[L.D]
    sep, offset = C[L.SEP], C[L.OFFSET]
    for i in range(1, k + 1):
        sep[i] = 0.0
    beta = 0.0
    for t in range(d):
        high, low = A[L.V + t], A[L.V + d + t]
        high_0, low_0 = high[0], low[0]
        for i in range(1, k + 1):
            e = (high[i] - high_0) + (low[i] - low_0)
            offset[i] = e
            sep[i] += e * e
        if m[L.WANT] & L.WANT_SPREAD:
            beta += squares_about(offset, total(offset, k) / k, k)
    sep[0] = dot(A[L.N], sep, k)
    C[L.SPREAD, 0] = beta / k
    return 0.0
