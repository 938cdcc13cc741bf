"""How a bank is set on its server: shown, changed through the door, compared, copied to another bank.

The server decides which settings there are; none is known here but for how it is typed in.
"""
