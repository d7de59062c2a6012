"""Unremember: teaches agents to forget."""
