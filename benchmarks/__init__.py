"""Side-by-side benchmarks: the official Python SDK's server and this project, under the same load.

`python -m benchmarks` runs everything and writes `benchmarks/RESULTS.md`; see `__main__.py` for the options.
"""
