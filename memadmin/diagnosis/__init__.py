"""`memadmin check`: what is wrong, why, and what to do about it; one module per area."""

from memadmin.diagnosis.finding import Finding
from memadmin.diagnosis.run import diagnose

__all__ = ["Finding", "diagnose"]
