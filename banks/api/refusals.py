"""What the endpoints about retaining refuse, whoever found it: nothing was stored."""

from collections.abc import Iterator
from contextlib import contextmanager

from banks import retain
from banks.retain import params
from banks.services.transcripts import PersonsBank
from banks.transcripts import NotBuilt
from memadmin.api.errors import Problem, Refused


class NotTaken(Problem):
    """`servers`: of those that have a bank of this id, say one; empty where something else is in the way."""

    servers: list[str] = []


@contextmanager
def refusals() -> Iterator[None]:
    """Turns the refusals of services into answers of the API."""
    try:
        yield
    except retain.Refused as error:
        raise refused(error) from error
    except (retain.BankClosed, retain.OtherRequest) as error:
        raise Refused(409, str(error)) from error
    except (NotBuilt, PersonsBank) as error:
        raise Refused(422, str(error), fields=[]) from error


def refused(error: retain.Refused) -> Refused:
    """As every answer of the API: 413 for what is too large, else 422 with the fields."""
    if error.status != 422:
        return Refused(error.status, str(error))
    wrong = error.problems[: params.MOST_PROBLEMS]
    return Refused(422, str(error), fields=[{"path": each.path, "problem": each.text} for each in wrong])
