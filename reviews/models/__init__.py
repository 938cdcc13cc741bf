from reviews.models.decisions import Decision, Seen
from reviews.models.entries import ReviewEntry
from reviews.models.facts import FactDecision, Reapplication
from reviews.models.health import HealthFact, HealthReport
from reviews.models.marks import Mark
from reviews.models.notices import Notice, NoticeChoice
from reviews.models.outgoing import OutgoingDelivery, OutgoingHook
from reviews.models.sources import Parked, SourceEvent, SourceFile
from reviews.models.views import SavedView, Skip

__all__ = [
    "Decision",
    "FactDecision",
    "HealthFact",
    "HealthReport",
    "Mark",
    "Notice",
    "NoticeChoice",
    "OutgoingDelivery",
    "OutgoingHook",
    "Parked",
    "Reapplication",
    "ReviewEntry",
    "SavedView",
    "Seen",
    "Skip",
    "SourceEvent",
    "SourceFile",
]
