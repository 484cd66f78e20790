"""How text files spell tables: separators, decimal commas, thousands, headers."""
