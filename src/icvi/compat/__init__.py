"""The indices in other libraries: thin, optional, imported only when used."""
