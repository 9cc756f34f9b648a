"""The peer: the official Python SDK's server with its database task store."""
