"""A small shop whose order desk is an A2A agent: the package used as a site would use it."""
