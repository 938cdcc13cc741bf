"""One test per row of docs/known-failures.md that is proven here, named after its row."""

from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from threading import Thread
from uuid import uuid4

import pytest

from banks import jobs, retain
from banks.blocks import trials as block_trials
from banks.blocks.markers import Marker
from banks.demo import DemoServer, Pace
from banks.demo.process import Handler
from banks.mental import trials
from banks.models import Bank, Blob, Role, Write
from banks.operations import acts
from banks.recall import recalling, reflecting, saving
from banks.recall.asked import Asked
from banks.seeds import job as seeding
from banks.services import bank_search, dry_runs, retaining, tokens
from reviews.bulk import deciding
from reviews.bulk.scope import Pick
from reviews.models import FactDecision, Reapplication
from reviews.services import saved_views
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.banks.filing import send
from tests.banks.mental import make_seed
from tests.banks.operations import make_operation
from tests.banks.retaining import put
from tests.browser.conftest import queue, reviewer, signed_in
from tests.conftest import People
from tests.known_failures.world import Wire, loaded
from tests.reviews.outgoing import make_outgoing

__all__ = ["line", "queue", "reviewer", "signed_in"]


@pytest.fixture
def wire() -> Iterator[Wire]:
    """The demo server behind a real socket, and every request line as it arrived there."""
    demo, seen = DemoServer(None, pace=Pace.instant()), Wire()

    class Recording(Handler):
        def _pass_on(self) -> None:
            seen.lines.append((self.command, self.path))
            super()._pass_on()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815  # names given by http.server

    Recording.demo = demo
    with ThreadingHTTPServer(("127.0.0.1", 0), Recording) as http:
        http.daemon_threads = True
        Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        seen.url = f"http://127.0.0.1:{http.server_address[1]}"
        yield seen
        http.shutdown()
    demo.close()


@pytest.fixture
def things(bank: Bank, people: People, line: LyingTransport) -> dict[str, int]:
    """One of everything an address can name, all of the same bank."""
    entry = loaded(bank, "notes/b.md")
    write = Write.objects.create(kind="edit", bank=bank, via="web", state="attention", slot="s", document_id="c")
    job = jobs.start(kind="import-queue", owner=people.owner, title="Queue file", params={"file": "x"}, here=True)
    member = bank.memberships.get(user=people.viewer)
    text = Blob.objects.store("Ben reads it.")
    fact = FactDecision.objects.create(
        bank=bank,
        document_id="notes/b.md",
        document_hash=entry.document_hash,
        fact_id="f",
        extracted=text,
        verdict=FactDecision.Verdict.RETIRED,
        write=write,
    )
    question = Reapplication.objects.create(
        decision=fact, fact_id="g", replaces="f", text=text, exact=False, state=Reapplication.State.ASKED
    )
    group = factories.make_group("Readers", people.viewer)
    factories.grant_group(group, bank, Role.VIEWER)
    issued = tokens.issue(owner=people.owner, name="agent", role=Role.ADMIN, banks=None, days=30)
    operation = make_operation(bank, "failed", document_id="notes/b.md")
    params = {"act": "retry", "group": str(uuid4()), "picks": [operation.pk], "total": 1}
    retries = jobs.start(kind=acts.KIND, owner=people.owner, title="Retry 1 operation", params=params, here=True)
    item = put(people.owner, bank, "Ben writes it.")[0]
    (file,) = send(people.owner, bank)
    items = retain.parse([{"content": "Ann reads it."}])
    planned = retain.plan(user=people.owner, bank=bank, items=items, via=Write.Via.WEB)
    sent = retaining.send(user=people.owner, form=uuid4(), planned=planned)
    tried = dry_runs.start(user=people.owner, planned=planned)
    search = bank_search.start(user=people.owner, words="Ann", banks=[bank.pk], shown={"q": "Ann"})
    seed = make_seed()
    preview = seeding.preview(user=people.owner, asked=seeding.Asked([bank.pk], "global"))
    jobs.run(preview.pk)
    trial = trials.start(user=people.owner, bank=bank, model_id="m1")
    recalled = block_trials.start(user=people.owner, bank=bank, asked=[Marker("query", "Who reads it?")])
    query = recalling.start(user=people.owner, bank=bank, asked=Asked("Who reads it?"))
    jobs.run(query.pk)
    query.refresh_from_db()
    saved = saving.save(user=people.owner, job=query, name="Ben", picks=[1])
    asked = reflecting.start(user=people.owner, bank=bank, asked=Asked("Who reads it?"))
    decided = deciding.start(user=people.owner, verdict="approve", picks=[Pick(2**40, 1, "")], here=True)
    jobs.run(decided.pk)
    view = saved_views.save(user=people.owner, name="Late", query="?age=soon")
    line.calls.clear()
    return {
        "queries/": query.pk,
        "checks/": saved.pk,
        "reflections/": asked.pk,
        "views/": view.pk,
        "bulk/": decided.pk,
        "asked/": search.pk,
        "told/": recalled.pk,
        "models/": seed.pk,
        "seedings/": preview.pk,
        "trials/": trial.pk,
        "acts/": retries.pk,
        "sent/": sent.pk,
        "tried/": tried.pk,
        "reviews/": entry.pk,
        "questions/": question.pk,
        "retired/": fact.pk,
        "look/": bank.pk,
        "jobs/": job.pk,
        "log/": write.pk,
        "imports/": job.pk,
        "banks/": bank.pk,
        "sources/": bank.pk,
        "servers/": bank.server.pk,
        "members/": member.pk,
        "groups/": group.pk,
        "people/": group.members.get().pk,
        "roles/": group.roles.get().pk,
        "team/": people.viewer.pk,
        "tokens/": issued.token.pk,
        "files/": file.pk,
        "retain/": item.pk,
        "outgoing/": make_outgoing(bank.server).pk,
    }
