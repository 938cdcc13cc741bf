"""Endpoints about banks, their write log, and the token itself. `memadmin.api` mounts them."""
