"""The one place that reaches into Numba or LLVM: its internals, intrinsics, generated code.

Other kernels are plain functions under the decorators of `compiling`, `embedded` and `linked`.
"""

# What each piece gives, measured on one machine, with and without (CPU time, best of many short
# runs). Below 15 % a piece is not worth its place.
#
#                                     embedded   linked       lanes
#   eight indices, d=2   k=15          + 1 %     - 1 %       + 12 %
#   eight indices, d=2   k=200         - 1 %     - 1 %       + 21 %
#   eight indices, d=50  k=50            0 %        -        + 16 %
#   NI + rCIP + rH, d=10 k=15          -10 %     - 1 %       +460 %
#   fuzzy ART, 30 / 600 categories        -         -    +100 / +420 %
#   first use, CH, nothing cached      +26 %     +45 %          0 %
#   first use, "paper"                 +32 %     +20 %       +  4 %
#
# The numbers say how much longer it takes without, with plain loops. With ICVI_PLAIN_KERNELS=1 all
# of them are left out, lanes are arrays, which takes 30 times as long, and a selection of tests
# runs that way in tests/kernels/test_compiling.py.
