"""Bridges to other libraries: thin, optional, imported only when used."""
