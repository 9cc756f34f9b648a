"""Bytes in, operations, bytes out. The modules here decode and encode; what a request means is decided below them."""
