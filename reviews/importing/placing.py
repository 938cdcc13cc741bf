"""Which bank a line means, and whether its sender may review there.

Addresses are compared parsed and whole, against servers an admin registered; nothing a file names is ever contacted.
A file's loopback address is the machine of whoever wrote it: it means one of our servers only where somebody said so.
"""

import re
from typing import NamedTuple

from banks import naming
from banks.access import banks_for, servers_for
from banks.addresses import Address, BadAddress
from banks.hindsight import NotAddressable, check_bank_id, check_document_id
from banks.models import Bank, Role, Server
from memadmin.accounts.models import User
from reviews.importing.events import Event
from reviews.models import SourceFile

# One text for "no such server", "no such bank" and "no right": nobody learns which banks exist.
NOT_PLACED = "No registered server and bank that you may review fits this line."
LOST_CHARACTERS = "holds characters that were lost on the way"
_PLAIN = re.compile(r"[\w\-][\w./\-]*", re.ASCII)
LOOPBACK, EVERY = "localhost", "*"  # keys of SourceFile.mapping beside addresses


class Place(NamedTuple):
    """Where a line belongs: a bank, or why none. `server` is known more often than the bank."""

    server: Server | None
    bank: Bank | None
    reason: str = ""


class Placer:
    """Places the lines of one source for one person. Asks the database once per server and bank, not per line.

    `server` takes every line for that server; else the source's mapping counts, then exact addresses.
    """

    def __init__(self, *, source: SourceFile, user: User, server: Server | None = None) -> None:
        self._mapping: dict[str, int] = dict(source.mapping)
        if server is not None:
            self._mapping = {EVERY: server.pk}
        self._trusts_loopback = source.trusts_loopback
        self._user = user
        self._servers = {server.pk: server for server in Server.objects.order_by("id")}
        self._administered = set(servers_for(user, Role.ADMIN).values_list("pk", flat=True))
        self._places: dict[tuple[str, str, str], Place] = {}
        self._by_address: dict[tuple[str, str], Server | None] = {}

    def place(self, event: Event) -> Place:
        key = (event.base_url, event.namespace, event.bank)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._find(*key)
        return place

    def _find(self, base_url: str, namespace: str, bank_id: str) -> Place:
        address = (base_url, namespace or "default")
        if address not in self._by_address:
            self._by_address[address] = self._server_of(*address)
        server = self._by_address[address]
        if reason := why_no_bank(bank_id):
            return Place(server, None, reason)
        if server is None:
            return Place(None, None, NOT_PLACED)
        bank = naming.by_id(Bank.objects.filter(server=server), bank_id).first()
        if bank is None and server.pk in self._administered:
            bank = Bank.objects.get_or_register(server=server, bank_id=bank_id)
        if bank is None or not banks_for(self._user, Role.REVIEWER).filter(pk=bank.pk).exists():
            return Place(server, None, NOT_PLACED)
        return Place(server, bank)

    def _server_of(self, base_url: str, namespace: str) -> Server | None:
        for candidates in self._candidates(base_url):
            fits = [server for server in candidates if server.namespace == namespace]
            if candidates:
                return fits[0] if len(fits) == 1 else None
        return None

    def _candidates(self, base_url: str) -> list[list[Server]]:
        """Servers the address may mean, all namespaces; the first list that is not empty counts."""
        try:
            address = Address.parse(base_url)
        except BadAddress:
            return [self._mapped(mapping_key(base_url)), self._mapped(EVERY)]
        keys = [address.normalised, *([LOOPBACK] if address.is_loopback else []), EVERY]
        found = [self._mapped(key) for key in keys]
        if not address.is_loopback:
            found.append([server for server in self._servers.values() if address in _addresses(server)])
        elif self._trusts_loopback:
            found.append([server for server in self._servers.values() if _listens(server, address)])
        return found

    def _mapped(self, key: str) -> list[Server]:
        """The server somebody chose, and the other namespaces of the same server."""
        chosen = self._servers.get(self._mapping.get(key, 0))
        if chosen is None:
            return []
        addresses = _addresses(chosen)
        return [server for server in self._servers.values() if server == chosen or addresses & _addresses(server)]


def mapping_key(base_url: str) -> str:
    """The key of SourceFile.mapping for what a line names, address or not."""
    try:
        return Address.parse(base_url).normalised
    except BadAddress:
        return f"text {base_url}"


def why_no_bank(bank_id: str) -> str:
    """Why this bank id can be no bank of ours; "" when it can."""
    if "\ufffd" in bank_id:
        return f"The bank id {LOST_CHARACTERS}."
    try:
        check_bank_id(bank_id)
    except NotAddressable as error:
        return error.detail[:300]
    return ""


def why_no_document(document_id: str) -> str:
    """Why this document can never be read or deleted; "" when it can."""
    if _PLAIN.fullmatch(document_id):  # most are, and asking for each of a big file takes long
        return ""
    if "\ufffd" in document_id:
        return f"The document id {LOST_CHARACTERS}."
    try:
        check_document_id(document_id)
    except NotAddressable as error:
        return error.detail[:300]
    return ""


def _addresses(server: Server) -> set[Address]:
    found = set()
    for url in server.addresses:
        try:
            found.add(Address.parse(url))
        except BadAddress:
            continue
    return found


def _listens(server: Server, address: Address) -> bool:
    """localhost, 127.0.0.1 and ::1 are one machine."""
    return any(
        own.is_loopback and (own.scheme, own.port) == (address.scheme, address.port) for own in _addresses(server)
    )
