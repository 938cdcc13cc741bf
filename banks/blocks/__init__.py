"""The blocks of text that agents ask for at the beginning of a session: a bank's mental models, what a person is like.

`lengths`, `models`, `markers` and `profile` are pure text: nothing there asks a server or a database.
"""
