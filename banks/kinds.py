"""The kinds of writes this app brings to the door."""
