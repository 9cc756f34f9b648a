"""A2A 0.3: the generated messages of package ``a2a.v1`` (module ``a2a_pb2``), and the translations to 1.0 and back."""
