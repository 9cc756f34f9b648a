"""A site with agents that work until a file is there, so that their process can be killed or stopped at work."""
