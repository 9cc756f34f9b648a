"""The site of the chaos: agents that write down what they say, before they say it."""
