"""Agents on workers of a queue: real servers, real workers, real brokers.

Run with ``A2A_TEST_RUNNERS=1``; needs ``redis-server`` and ``rabbitmq-server``, of which each test run starts its own.
``A2A_TEST_RUNNERS_DATABASE=postgres`` has the sites on PostgreSQL (address from the PG* variables).
"""
