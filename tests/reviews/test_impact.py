"""What rests on a fact is said before it is retired; what could not be seen is unknown, never none."""

import json
from typing import Any

import httpx
import pytest

from banks import connections
from banks.models import Bank, Server
from reviews.selectors import derived
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded
from tests.reviews.pages import HTMX, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
ANN = "Ann keeps the ledger."


def fact_of(bank: Bank, text: str) -> str:
    with connections.client_for(bank.server) as client:
        return next(fact.id for fact in client.list_facts(bank.bank_id).items if fact.text == text)


def make_model(line: LyingTransport, bank: Bank, model_id: str, query: str) -> None:
    body = json.dumps({"id": model_id, "name": model_id.upper(), "source_query": query}).encode()
    path = f"/v1/default/banks/{bank.bank_id}/mental-models"
    assert line.server.handle("POST", path, {"content-type": "application/json"}, body)[0] == 200


class Answering(httpx.BaseTransport):
    """Rows as given for the lists, whatever is asked for."""

    def __init__(self, observations: list[dict[str, Any]], models: list[dict[str, Any]], total: int = 0) -> None:
        self.observations, self.models, self.total, self.calls = observations, models, total, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        rows = self.models if request.url.path.endswith("mental-models") else self.observations
        limit, offset = int(request.url.params["limit"]), int(request.url.params["offset"])
        total = max(self.total, len(rows))
        return httpx.Response(200, json={"items": rows[offset : offset + limit], "total": total})


def observation(number: int, *sources: str) -> dict[str, Any]:
    return {"id": f"o{number}", "text": "x", "fact_type": "observation", "source_memory_ids": list(sources)}


def model(number: int, *read: str) -> dict[str, Any]:
    return {"id": f"m{number}", "reflect_response": {"based_on": {"world": [{"id": each} for each in read]}}}


def test_observations_and_models_are_counted(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    store(bank, "more", "Ann plays chess.")
    make_model(line, bank, "ledger", "Who keeps the ledger?")
    make_model(line, bank, "weather", "Does it rain today?")
    answer = as_user(people.viewer).get(f"/banks/{bank.pk}/facts/impact/?fact={fact_of(bank, ANN)}", headers=HTMX)
    page = text_of(answer)
    assert "1 observation derives from this." in page
    assert "1 mental model reads it." in page
    assert "LEDGER" in page
    assert "WEATHER" not in page
    assert "<html" not in page


def test_a_model_that_reads_an_observation_of_it_counts(bank: Bank, line: LyingTransport) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Answering(
        [observation(1, "f", "g"), observation(2, "g"), observation(3, "f")], [model(1, "o3"), model(2, "o2")]
    )
    impact = derived.impact_of(bank, "f")
    assert (impact.observations.number, impact.models.number, impact.models.names) == (2, 1, ("m1",))


def test_nothing_rests_on_it_only_where_everything_was_looked_at(bank: Bank, line: LyingTransport) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Answering([observation(1, "g")], [model(1, "g"), {"id": "m2"}])
    impact = derived.impact_of(bank, "f")
    assert (impact.observations.number, impact.observations.whole) == (0, True)
    assert (impact.models.number, impact.models.looked_at, impact.models.whole) == (0, 1, False)  # m2 says nothing


def test_ten_thousand_observations_are_not_all_read(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    many = [observation(number, "f") for number in range(10_000)]
    transport = connections.TRANSPORTS[bank.server.base_url] = Answering(many, [model(n) for n in range(300)])
    page = text_of(as_user(people.viewer).get(f"/banks/{bank.pk}/facts/impact/?fact=f", headers=HTMX))
    assert "Perhaps more:" in page
    assert "of 10,000 observations were looked through" in page
    assert "of 300 models" in page
    assert transport.calls <= 15


def test_time_ends_the_lists(bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [observation(number, "f") for number in range(2_000)]
    transport = connections.TRANSPORTS[bank.server.base_url] = Answering(many, [model(n, "f") for n in range(50)])
    monkeypatch.setattr(derived, "LIST_SECONDS", -1.0)
    impact = derived.impact_of(bank, "f")
    assert (impact.observations.number, impact.observations.of, transport.calls) == (500, 2_000, 2)
    assert (impact.models.looked_at, impact.models.of) == (20, 50)


@pytest.mark.parametrize("cut", ["cut_before", "cut_after"])
def test_what_could_not_be_read_is_unknown(bank: Bank, line: LyingTransport, people: People, as_user, cut) -> None:
    fact_id = fact_of(bank, ANN)
    getattr(line, cut).append("GET")
    page = text_of(as_user(people.viewer).get(f"/banks/{bank.pk}/facts/impact/?fact={fact_id}", headers=HTMX))
    assert "Unknown how many observations derive from this." in page
    assert "Unknown which mental models read it." in page


def test_a_server_without_mental_models(bank: Bank, line: LyingTransport) -> None:
    class Without(Answering):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("mental-models"):
                return httpx.Response(404, json={"detail": "Not Found"})
            return super().handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = Without([observation(1, "f")], [])
    impact = derived.impact_of(bank, "f")
    assert (impact.observations.number, impact.models) == (1, None)


def test_a_server_that_is_left_alone_is_not_asked(bank: Bank, line: LyingTransport) -> None:
    Server.objects.update(health=Server.Health.REFUSED)
    bank.server.refresh_from_db()
    assert derived.impact_of(bank, "f") == derived.Impact(None, None, derived.NOT_ASKED)
    assert derived.sources_of(bank, "f").facts is None
    assert line.calls == []


def test_the_card_asks_for_it_where_the_reason_is_given(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    entry = loaded(bank, "notes/a.md", f"{ANN} Ben reads it.")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    address = f"/banks/{bank.pk}/facts/impact/?fact={fact_of(bank, ANN)}"
    assert f'hx-get="{address}"' in page
    assert f'href="{address}"' in page  # and without script it is a page
    whole = text_of(as_user(people.reviewer).get(address))
    assert "<html" in whole
    assert "0 observations derive from this." in whole
