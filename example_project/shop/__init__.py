"""The shop: products, orders, and an agent that knows them."""
