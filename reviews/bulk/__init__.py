"""One verdict on many memories: each decided by itself, by a row of its own in the log, all of them one group.

What was counted is what is decided on: which memories, and in which version, is kept before the work begins (`scope`).
A job takes them in lots (`deciding`), and another one takes the group back (`undoing`).
"""
