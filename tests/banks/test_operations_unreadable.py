"""One operation that a server cannot tell of, or that has no address, does not keep the others from being seen."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from banks import connections
from banks.models import Bank, OperationLook, OperationSeen
from banks.operations.read import MOST_UNREADABLE
from tests.banks.operations import looked

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN: dict[str, Callable[[], httpx.Response]] = {
    "fault": lambda: httpx.Response(500, json={"detail": "Internal Server Error"}),
    "no json": lambda: httpx.Response(200, content=b"<html>"),
}


@pytest.fixture
def listed(bank: Bank) -> Iterator[Callable[..., None]]:
    """`listed(*ids, single=answer)`: a server that lists these batches, and answers so for each by itself."""

    def serve(*ids: str, single: Callable[[], httpx.Response]) -> None:
        rows = [{"id": each, "task_type": "batch_retain", "status": "pending"} for each in ids]

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/operations"):
                return httpx.Response(200, json={"operations": rows, "total": len(rows)})
            if request.url.path.endswith("/fine"):
                return httpx.Response(200, json={**rows[-1], "operation_id": "fine", "status": "processing"})
            return single()

        connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)

    yield serve
    connections.TRANSPORTS.pop(bank.server.base_url, None)


@pytest.mark.parametrize("broken", list(BROKEN))
def test_the_others_are_read_all_the_same(bank: Bank, listed: Callable[..., None], broken: str) -> None:
    listed("broken", "fine", single=BROKEN[broken])
    assert looked(bank) == "2 new, 0 changed"
    assert OperationLook.objects.get().error == ""
    assert dict(OperationSeen.objects.values_list("operation_id", "status")) == {
        "broken": "pending",
        "fine": "processing",
    }


@pytest.mark.parametrize("name", ["..", "a/b"])
def test_an_id_without_an_address_is_shown_as_the_list_has_it(
    bank: Bank, listed: Callable[..., None], name: str
) -> None:
    listed(name, "fine", single=BROKEN["fault"])
    assert looked(bank) == "2 new, 0 changed"
    assert set(OperationSeen.objects.values_list("operation_id", flat=True)) == {name, "fine"}


def test_a_server_that_tells_of_none_is_a_failed_look(bank: Bank, listed: Callable[..., None]) -> None:
    listed(*[f"p{number}" for number in range(MOST_UNREADABLE + 1)], single=BROKEN["fault"])
    assert looked(bank) == "failed"
    assert "ServerFault" in OperationLook.objects.get().error
