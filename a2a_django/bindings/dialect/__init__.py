"""The dialect of the tutorials: JSON-RPC that is like 0.3 and looser, and an event stream for browsers.

Everything here is on only with ``A2A["TUTORIAL_DIALECT"]``. Calls are rewritten to what 0.3 has for them and carried
out by the binding of 0.3, so nothing of this is known outside of this folder; who deletes the folder deletes the
dialect.
"""
