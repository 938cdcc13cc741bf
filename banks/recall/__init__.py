"""Asking a bank what it knows: recall and reflect as jobs, the block that agents make of it, and saved queries."""
