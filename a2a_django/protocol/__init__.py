"""What A2A is: messages, errors, task states, JSON. Pure Python, nothing of Django."""
