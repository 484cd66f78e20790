"""Indices of moments that were gathered in one go, with numpy alone."""
