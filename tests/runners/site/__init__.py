"""The example site with agents that run on workers: how is said by the environment."""
