"""A typed client of the Hindsight HTTP API, versions 0.9.1 to 1.1.0. Imports no Django."""

from banks.hindsight.client import HindsightClient
from banks.hindsight.contents import Chunk, DocumentEvent, Entity
from banks.hindsight.derived import SourceFact
from banks.hindsight.directives import Directive
from banks.hindsight.dry_run import DryRun, ExtractedFact, Extraction
from banks.hindsight.errors import (
    BadAnswer,
    Busy,
    Conflict,
    ConnectionLost,
    HindsightError,
    Invalid,
    NotAddressable,
    NotFound,
    Refused,
    Retired,
    ServerFault,
    Timeout,
    Unreachable,
)
from banks.hindsight.files import RetainFile, safe_name
from banks.hindsight.ids import check_bank_id, check_document_id, check_fact_id, check_model_id, is_addressable
from banks.hindsight.items import RetainItem, retain_body
from banks.hindsight.models import Evidence, MentalModel, ModelChange, RefreshTrial
from banks.hindsight.numbers import Days
from banks.hindsight.operations import ChildOperation, Operation
from banks.hindsight.recall import Hit, Recall, Recalled, Search, Trace
from banks.hindsight.reflect import Reflect, Reflection, Source
from banks.hindsight.shapes import (
    BankConfig,
    BankRow,
    BankStats,
    Deleted,
    Document,
    DocumentRow,
    Fact,
    Health,
    Page,
    Retained,
    Version,
)
from banks.hindsight.transport import Timeouts
from banks.hindsight.webhooks import WebhookRow

__all__ = [
    "BadAnswer",
    "BankConfig",
    "BankRow",
    "BankStats",
    "Busy",
    "ChildOperation",
    "Chunk",
    "Conflict",
    "ConnectionLost",
    "Days",
    "Deleted",
    "Directive",
    "Document",
    "DocumentEvent",
    "DocumentRow",
    "DryRun",
    "Entity",
    "Evidence",
    "ExtractedFact",
    "Extraction",
    "Fact",
    "Health",
    "HindsightClient",
    "HindsightError",
    "Hit",
    "Invalid",
    "MentalModel",
    "ModelChange",
    "NotAddressable",
    "NotFound",
    "Operation",
    "Page",
    "Recall",
    "Recalled",
    "Reflect",
    "Reflection",
    "RefreshTrial",
    "Refused",
    "RetainFile",
    "RetainItem",
    "Retained",
    "Retired",
    "Search",
    "ServerFault",
    "Source",
    "SourceFact",
    "Timeout",
    "Timeouts",
    "Trace",
    "Unreachable",
    "Version",
    "WebhookRow",
    "check_bank_id",
    "check_document_id",
    "check_fact_id",
    "check_model_id",
    "is_addressable",
    "retain_body",
    "safe_name",
]
