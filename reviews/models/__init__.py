from reviews.models.decisions import Decision, Seen
from reviews.models.entries import ReviewEntry
from reviews.models.sources import Parked, SourceEvent, SourceFile

__all__ = ["Decision", "Parked", "ReviewEntry", "Seen", "SourceEvent", "SourceFile"]
