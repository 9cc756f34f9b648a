"""The smallest Django site with our package, as a user would write it; only what the benchmarks need."""
