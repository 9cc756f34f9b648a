"""A2A 0.3: the same three bindings, translated. Nothing but ``bindings/older.py`` knows of this folder."""
