"""Seeds: mental models that a team wants in its banks. Created where they are missing, and never touched again."""

from banks.seeds.builtin import BUILT_IN
from banks.seeds.shape import NotASeed, SeedSpec, checked

__all__ = ["BUILT_IN", "NotASeed", "SeedSpec", "checked"]
