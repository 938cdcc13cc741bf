"""The JSON API under /api/v1/: what all endpoints share. The endpoints live in their apps (banks.api, reviews.api)."""
