"""`/metrics` for Prometheus: what waits, how long it takes, who lives. Nothing in it names a document or a person."""
