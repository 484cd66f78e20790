"""All that reaches into Numba or LLVM."""
