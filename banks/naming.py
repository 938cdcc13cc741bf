"""Which banks a word or an id means. Servers may take other ids for a bank, too: they mean that bank, no new one."""

from django.db.models import Q, QuerySet

from banks.models import Bank, BankAlias


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
    key = Bank.hash_of(bank_id)
    aliases = BankAlias.objects.filter(alias_hash=key)
    itself = Q(bank_hash=key) & ~Q(server__in=aliases.values("server"))
    return banks.filter(itself | Q(pk__in=aliases.values("bank")))
