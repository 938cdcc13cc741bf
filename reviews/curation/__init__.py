"""What people decided about facts survives a new extraction.

The server forgets retirements and edits when a chunk of a document changes or the document is processed again: the
facts come back under new ids, as if nobody had said anything. Here decisions are remembered (`remember`), found again
by the text as extracted (`matching`), and applied again through the door, or asked about (`reapply`).
"""
