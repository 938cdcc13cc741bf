"""Which banks a word or an id means. Servers may take other ids for a bank, too: they mean that bank, no new one."""

from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from banks.models import Bank, BankAlias

# Every request of a program asks this. Building it by the ORM takes longer than answering it.
_BY_ID = """
SELECT alias.bank_id FROM banks_bankalias alias WHERE alias.alias_hash = %s
UNION ALL
SELECT bank.id FROM banks_bank bank WHERE bank.bank_hash = %s AND NOT EXISTS (
    SELECT 1 FROM banks_bankalias alias WHERE alias.alias_hash = %s AND alias.server_id = bank.server_id
)
"""


def named(banks: QuerySet[Bank], q: str) -> QuerySet[Bank]:
    """Those whose name, id or alias, or whose server's name, contains this; all for ""."""
    if not q:
        return banks
    aliased = BankAlias.objects.filter(alias__icontains=q).values("bank")
    return banks.filter(
        Q(name__icontains=q) | Q(bank_id__icontains=q) | Q(server__name__icontains=q) | Q(pk__in=aliased)
    )


def by_id(banks: QuerySet[Bank], bank_id: str) -> QuerySet[Bank]:
    """Those that are meant by this id, at most one of each server."""
    return banks.filter(pk__in=RawSQL(_BY_ID, [Bank.hash_of(bank_id)] * 3))  # noqa: S611  # our own text
