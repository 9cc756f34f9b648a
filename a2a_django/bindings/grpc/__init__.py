"""The gRPC binding: service ``lf.a2a.v1.A2AService`` over the same operations, codec and access policy as the others.

Nothing here is imported by the rest of the package: a site that serves no gRPC does not load it.
"""
