"""A2A 0.3, translated from and to 1.0; the package's other rooms know of it only where ``bindings.older`` says.

It has two forms: the JSON schema of JSON-RPC, webhooks and agent cards (``json_form``, ``params``, ``cards``), and the
messages of package ``a2a.v1`` (generated module ``a2a_pb2``) of HTTP+JSON and gRPC. ``meaning`` is what both have in
common.
"""
