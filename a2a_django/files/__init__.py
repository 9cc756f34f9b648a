"""Large parts outside the rows: in a storage of the site, with addresses that expire (docs/files.md).

A stored part is a ``url`` part whose address is a *marker*. Only this package makes markers, they never leave the site,
and nobody can make one up: whatever goes out has signed addresses in their place (``links``). Everything here blocks.
"""

from __future__ import annotations
