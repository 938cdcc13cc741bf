"""A bank as such: made, named and deleted, each by an act of its own and through the door.

Nothing else makes one: no read does, and what is sent into a bank looks first whether it is there.
"""
