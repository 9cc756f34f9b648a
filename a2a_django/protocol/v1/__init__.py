"""A2A 1.0: the generated messages of package ``lf.a2a.v1`` (module ``a2a_pb2``)."""
