"""How much of a text the index of entries was filled with: migration 0003 asks here. Words: memadmin/terms.py."""

from memadmin.terms import CHARACTERS

__all__ = ["CHARACTERS"]
