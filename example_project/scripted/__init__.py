"""An agent whose every move is written in a table: what the acceptance tests talk to. Not part of the example site."""
