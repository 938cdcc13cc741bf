"""Endpoints about memories that wait for a decision, and about facts. `memadmin.api` mounts them."""
