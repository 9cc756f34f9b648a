"""A site with several agents, for what the scripted site cannot show: tenants, and errors that need an agent's help."""
