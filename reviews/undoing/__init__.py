"""Undo as a stack: a person's last actions, newest first, each taken back by a new row of the write log.

Nothing is kept for it: the stack is read from the log (`steps`), what may be taken back is judged from how things are
now (`judging`), and taking back is an act like any other (`acts`): conditional, refused with a reason, logged.
"""
