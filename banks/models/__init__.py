from banks.models.banks import Bank, Membership, Reapply, Role
from banks.models.blobs import Blob
from banks.models.blocks import FrozenBlock
from banks.models.events import AdminEvent
from banks.models.files import RetainFile
from banks.models.groups import Group, GroupMember, GroupRole
from banks.models.jobs import Job, JobItem
from banks.models.log_index import Unindexed, WriteFact
from banks.models.numbers import BankAlias, BankNumbers
from banks.models.operations import OperationLook, OperationSeen
from banks.models.recall import ExpectedFact, RecallCheck
from banks.models.retain import RetainItem, RetainLabel
from banks.models.seeds import ModelPin, Seed
from banks.models.servers import Server
from banks.models.tokens import ApiToken, IdempotencyKey
from banks.models.webhooks import Webhook, WebhookDelivery
from banks.models.writes import Write

__all__ = [
    "AdminEvent",
    "ApiToken",
    "Bank",
    "BankAlias",
    "BankNumbers",
    "Blob",
    "ExpectedFact",
    "FrozenBlock",
    "Group",
    "GroupMember",
    "GroupRole",
    "IdempotencyKey",
    "Job",
    "JobItem",
    "Membership",
    "ModelPin",
    "OperationLook",
    "OperationSeen",
    "Reapply",
    "RecallCheck",
    "RetainFile",
    "RetainItem",
    "RetainLabel",
    "Role",
    "Seed",
    "Server",
    "Unindexed",
    "Webhook",
    "WebhookDelivery",
    "Write",
    "WriteFact",
]
