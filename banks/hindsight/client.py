"""The calls of the Hindsight API that memadmin makes, typed.

A call either returns a value of `shapes` or raises one error of `errors`. Nothing is retried here: whoever calls knows
what a repetition would mean.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from banks.hindsight import errors, ids
from banks.hindsight.calls import PAGE
from banks.hindsight.contents import ContentCalls
from banks.hindsight.derived import SourceFact
from banks.hindsight.directives import DirectiveCalls
from banks.hindsight.dry_run import DryRun, Extraction
from banks.hindsight.files import RetainFile, form_of
from banks.hindsight.items import RetainItem, retain_body
from banks.hindsight.models import ModelCalls
from banks.hindsight.numbers import Days, aliases_in
from banks.hindsight.operations import Operation
from banks.hindsight.recall import RecallCalls
from banks.hindsight.reflect import ReflectCalls
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
from banks.hindsight.walking import MOST_PAGES, every_row, first_rows
from banks.hindsight.webhooks import WebhookCalls

MOST_OPERATIONS = 1_000  # that a walk brings home

_OTHER_DOCUMENT = "This server cannot show this document: it answered for something else."


class HindsightClient(ContentCalls, DirectiveCalls, ModelCalls, RecallCalls, ReflectCalls, WebhookCalls):
    """One server as seen with one key. A context manager; safe to share between threads.

    base_url: `http(s)://host[:port][/prefix]`; ValueError when it is anything else. `transport` replaces the network.
    """

    # the server

    def version(self) -> Version:
        """Needs no key, so it says nothing about whether ours is right."""
        return self._get(b"/version", Version.parse)

    def health(self) -> Health:
        """Needs no key. An unhealthy server answers 503, which is `Busy`."""
        return self._get(b"/health", Health.parse)

    # banks

    def list_banks(self, *, q: str = "") -> list[BankRow]:
        """All banks, or those whose id or name contains `q`, where the server can tell.

        The only proof that a bank exists: other calls answer for unknown banks too.
        """
        path = ids.banks_path(self._namespace)
        return every_row(
            lambda offset: self._page(path, "banks", BankRow.parse, limit=PAGE, offset=offset, q=q),
            lambda row: row.bank_id,
        )

    def find_bank(self, bank_id: str) -> BankRow | None:
        """The bank as the list has it, by its exact id; None when the list does not have it."""
        ids.check_bank_id(bank_id)
        # What is asked for is a pattern on the server, in which some characters mean others.
        rows = (row for q in (bank_id, "") for row in self.list_banks(q=q))
        return next((row for row in rows if row.bank_id == bank_id), None)

    def has_bank(self, bank_id: str) -> bool:
        """Whether the list of banks has it, by its exact id."""
        return self.find_bank(bank_id) is not None

    def bank_config(self, bank_id: str) -> BankConfig:
        return self._get(self._bank(bank_id, "config"), BankConfig.parse)

    def patch_config(self, bank_id: str, updates: Mapping[str, Any]) -> BankConfig:
        """Change these settings and no others; what holds then. The server creates a missing bank."""
        return self._parsed("PATCH", self._bank(bank_id, "config"), BankConfig.parse, body={"updates": dict(updates)})

    def put_bank(self, bank_id: str, *, name: str = "") -> None:
        """Create the bank, or rename it when it exists."""
        self._send("PUT", self._bank(bank_id), body={"name": name} if name else {})

    def rename_bank(self, bank_id: str, name: str) -> None:
        """Change what the bank is called. NotFound where there is none: this call creates nothing."""
        self._send("PATCH", self._bank(bank_id), body={"name": name})

    def export_bank(self, bank_id: str) -> dict[str, Any]:
        """What the bank is told, as the server writes it down: its own settings, models, directives. No memories."""
        return dict(self._send("GET", self._bank(bank_id, "export")).data)

    def delete_bank(self, bank_id: str) -> Deleted:
        """Delete the bank with everything in it. The server says yes for unknown banks too."""
        return self._parsed("DELETE", self._bank(bank_id), Deleted.parse)

    def stats(self, bank_id: str) -> BankStats:
        """Counters read afresh, not from the server's cache."""
        return self._get(self._bank(bank_id, "stats"), BankStats.parse, {"refresh": True})

    def days(self, bank_id: str) -> Days:
        """How many facts came on each of the last days. Older servers may not have this."""
        return self._get(self._bank(bank_id, "stats", "memories-timeseries"), Days.parse, {"period": "30d"})

    def aliases(self, bank_id: str) -> list[str]:
        """The other ids of this bank. Servers before 1.1 do not have this."""
        return self._get(self._bank(bank_id, "aliases"), aliases_in)

    # documents

    def get_document(self, bank_id: str, document_id: str) -> Document:
        """The document with its text. BadAnswer when the server answers for another thing.

        Ids ending in `/chunks` or `/history` meet other routes of the server; a 404 from there says nothing.
        """
        path = ids.document_path(self._namespace, bank_id, document_id)
        about: dict[str, Any] = {"method": "GET", "path": path.decode("ascii")}
        try:
            answer = self._send("GET", path)
        except errors.NotFound as error:
            if ids.is_shadowed(document_id):
                raise errors.BadAnswer(_OTHER_DOCUMENT, status=error.status, **about) from error
            raise
        if answer.data.get("id") != document_id:
            raise errors.BadAnswer(_OTHER_DOCUMENT, status=200, **about)
        return self._parse(answer, Document.parse, **about)

    def list_documents(
        self, bank_id: str, *, q: str = "", tags: Sequence[str] = (), limit: int = PAGE, offset: int = 0
    ) -> Page[DocumentRow]:
        """Newest change first. `q`: a part of the id, and since 1.1.0 of the text; `tags`: those that have them all."""
        path = self._bank(bank_id, "documents")
        # No tags are said by saying nothing: an empty list means other things to other servers.
        tagged: dict[str, str | list[str]] = {"tags": list(tags), "tags_match": "all_strict"} if tags else {}
        return self._page(path, "items", DocumentRow.parse, limit=limit, offset=offset, q=q, **tagged)

    def find_document(self, bank_id: str, document_id: str) -> DocumentRow | None:
        """The document as the list has it, None when the list does not have it.

        This is the second opinion after a 404. A bank that does not exist is NotFound, never None.
        """
        ids.check_document_id(document_id)
        for offset in range(0, MOST_PAGES * PAGE, PAGE):
            page = self.list_documents(bank_id, q=document_id, limit=PAGE, offset=offset)
            for row in page.items:
                if row.id == document_id:
                    return row
            if page.ends(offset + len(page.items)):
                return None
        raise errors.BadAnswer("The list of documents does not end.")

    def delete_document(self, bank_id: str, document_id: str) -> Deleted:
        """Delete the document, its facts, its retired facts and the observations made of them."""
        return self._parsed("DELETE", ids.document_path(self._namespace, bank_id, document_id), Deleted.parse)

    def set_document_tags(self, bank_id: str, document_id: str, tags: Sequence[str]) -> None:
        """Replace the tags of the document and of its live facts; retired facts keep the old ones."""
        path = ids.document_path(self._namespace, bank_id, document_id)
        self._send("PATCH", path, body={"tags": list(tags)})

    def retain(
        self, bank_id: str, items: Sequence[RetainItem], *, operation_id: UUID, document_tags: Sequence[str] = ()
    ) -> Retained:
        """Hand over documents to be stored in the background, each under its own id.

        Repeating a call with its `operation_id` starts nothing new, whatever the items say. The server creates a
        missing bank. ValueError for no items and for two items of one document, which servers refuse or merge.
        """
        names = [item.document_id for item in items]
        if not names or len(set(names)) != len(names):
            raise ValueError("A retain takes at least one item, and each document once.")
        for name in names:
            ids.check_document_id(name)
        body = retain_body(items, operation_id=operation_id, document_tags=document_tags)
        answer = self._send("POST", self._bank(bank_id, "memories"), body=body)
        given = answer.data.get("operation_id")
        return Retained(given if isinstance(given, str) else str(operation_id), answer.ignored_params)

    def dry_run(self, bank_id: str, asked: DryRun) -> Extraction:
        """What a retain of this text would draw from it. Nothing is stored; models are asked, which takes its time.

        Servers answer for banks that do not exist, too. One that offers no dry run is NotFound or Invalid (405).
        """
        path = self._bank(bank_id, "memories", "dry-run-extract")
        return self._parsed("POST", path, Extraction.parse, body=asked.as_json())

    def retain_files(self, bank_id: str, files: Sequence[RetainFile]) -> list[str]:
        """Have files turned into text and retained, all or none. The ids of the conversions, in the order of `files`.

        They cannot be named before, and a repeated call begins anew: after a lost answer the operations of these
        documents tell (`list_operations`, type "file_convert_retain"). Each conversion that succeeds is followed by an
        operation of the type "retain" for the same document. A server without the converter answers `Invalid`. A bank
        that does not exist is NotFound: this call creates none. ValueError for too many, and for two of one document.
        """
        form = form_of(files)
        path = self._bank(bank_id, "files", "retain")
        given = self._sender.send("POST", path, form=form).data.get("operation_ids")
        if not isinstance(given, list) or [type(each) for each in given] != [str] * len(files):
            about: dict[str, Any] = {"method": "POST", "path": path.decode("ascii")}
            raise errors.BadAnswer("The server did not say which operations it began.", unknown=True, **about)
        return given

    def reprocess_document(self, bank_id: str, document_id: str) -> str:
        """Have all facts extracted anew from the stored text, in the background. Returns the operation's id.

        It cannot be named before, so a call whose answer was lost leaves no name behind. All facts get new ids, also
        those that were edited or retired; up to 0.9.2 servers may do nothing, and say that they are done.
        """
        path = ids.document_path(self._namespace, bank_id, document_id) + b"/reprocess"
        return self._began(self._send("POST", path), path)

    def clone_bank(self, bank_id: str, target_id: str, *, config: bool) -> str:
        """Have a new bank made that has what this one has, in the background: an operation of this one; its id.

        `config`: its settings, directives and webhooks, too. Invalid where there is a bank of this id. Servers before
        1.1.0 cannot: NotFound ("route"), or Invalid (405).
        """
        ids.check_bank_id(target_id)
        path = self._bank(bank_id, "clone")
        query: ids.Query = {"target_bank_id": target_id, "include_data": True, "include_bank_config": config}
        return self._began(self._send("POST", path, query=query), path)

    # operations

    def get_operation(self, bank_id: str, operation_id: str) -> Operation:
        """An operation that the server does not know has the status "not_found"; that is no error."""
        return self._get(ids.operation_path(self._namespace, bank_id, operation_id), Operation.parse)

    def list_operations(
        self,
        bank_id: str,
        *,
        status: str = "",
        type: str = "",  # noqa: A002  # the API's own word
        exclude_parents: bool = True,
        limit: int = PAGE,
        offset: int = 0,
    ) -> Page[Operation]:
        """Newest first; `limit` is at most 100."""
        query: ids.Query = {"status": status, "type": type, "exclude_parents": exclude_parents}
        path = self._bank(bank_id, "operations")
        return self._page(path, "operations", Operation.parse, limit=limit, offset=offset, **query)

    def walk_operations(
        self,
        bank_id: str,
        *,
        status: str = "",
        type: str = "",  # noqa: A002  # the API's own word
        exclude_parents: bool = False,
        most: int = MOST_OPERATIONS,
    ) -> Page[Operation]:
        """The list page by page, newest first, each operation once and at most `most`; `total`: how many there are.

        What leaves the list meanwhile pulls others over the edge of a page: then they are missing.
        """
        asked: dict[str, Any] = {"status": status, "type": type, "exclude_parents": exclude_parents}
        return first_rows(
            lambda offset, limit: self.list_operations(bank_id, limit=limit, offset=offset, **asked),
            lambda row: row.id,
            most=most,
            at_once=PAGE,
        )

    def cancel_operation(self, bank_id: str, operation_id: str) -> None:
        """Ask to stop. Work that has begun may still store facts, and a parent's children are not stopped.

        Conflict when it has ended, and on servers up to 0.9 also while it works.
        """
        self._send("DELETE", ids.operation_path(self._namespace, bank_id, operation_id))

    def retry_operation(self, bank_id: str, operation_id: str) -> None:
        """Queue a failed, cancelled or waiting operation again, a parent's children with it. Its error is forgotten.

        Conflict when there is nothing to retry.
        """
        self._send("POST", ids.operation_path(self._namespace, bank_id, operation_id, "retry"))

    def delete_operation(self, bank_id: str, operation_id: str) -> None:
        """Have the server forget an operation that has ended; Conflict while it has not. No fact is touched."""
        self._send("DELETE", ids.operation_path(self._namespace, bank_id, operation_id, "delete"))

    # facts

    def list_facts(
        self,
        bank_id: str,
        *,
        document_id: str = "",
        entity_id: str = "",
        state: str = "valid",
        type: str = "",  # noqa: A002  # the API's own word
        q: str = "",
        tags: Sequence[str] = (),
        mentioned_from: datetime | None = None,
        mentioned_before: datetime | None = None,
        limit: int = PAGE,
        offset: int = 0,
    ) -> Page[Fact]:
        """Facts and observations of one `state`, "valid" or "invalidated", latest mentioned first.

        Servers have no list of both states. `tags`: those that have them all. Before 1.1.0 servers know no times.
        """
        if document_id:
            ids.check_document_id(document_id)
        query: ids.Query = {"document_id": document_id, "state": state, "type": type, "q": q, "entity_id": entity_id}
        if tags:  # otherwise those without tags come, too
            query |= {"tags": list(tags), "tags_match": "all_strict"}
        if mentioned_from or mentioned_before:
            query |= {"time_field": "mentioned_at"}
            bounds = {"start_date": mentioned_from, "end_date": mentioned_before}
            query |= {name: moment.isoformat() for name, moment in bounds.items() if moment}
        return self._page(
            self._bank(bank_id, "memories", "list"), "items", Fact.parse, limit=limit, offset=offset, **query
        )

    def count_facts(self, bank_id: str, *, state: str) -> int:
        """BadAnswer where the server does not say how many there are: none is another answer."""
        found = self.list_facts(bank_id, state=state, limit=0)
        if not found.counted:
            raise errors.BadAnswer("The server's list of facts does not say how many there are.", method="GET")
        return found.total

    def get_fact(self, bank_id: str, fact_id: str) -> Fact:
        return self._get(ids.fact_path(self._namespace, bank_id, fact_id), Fact.parse)

    def sources_of(self, bank_id: str, observation_id: str) -> list[SourceFact]:
        """The facts that an observation is made from; empty for a fact."""
        return self._get(ids.fact_path(self._namespace, bank_id, observation_id), SourceFact.parse_all)

    def patch_fact(
        self,
        bank_id: str,
        fact_id: str,
        *,
        text: str | None = None,
        state: str | None = None,
        reason: str | None = None,
    ) -> Fact:
        """Change the text, retire (`state="invalidated"`) or restore (`state="valid"`). Observations are Invalid."""
        fields = {"text": text, "state": state, "reason": reason}
        body = {key: value for key, value in fields.items() if value is not None}
        return self._parsed("PATCH", ids.fact_path(self._namespace, bank_id, fact_id), Fact.parse, body=body)
