"""“Ask now”: a job, so that a page never waits for a server. It reads, and can create no bank."""

from typing import Any

from banks import jobs
from banks.models import Job, Server
from banks.services.probe import probe
from memadmin.accounts.models import User

KIND = "ask-server"


def ask(*, actor: User, server: Server) -> Job:
    """Has a worker ask the server how it is. The job that is under way, when there is one."""
    return asking(server) or jobs.start(
        kind=KIND, owner=actor, title=f"Ask {server.name}", params={"server": server.pk}
    )


def asking(server: Server) -> Job | None:
    """The job that asks this server and has not ended."""
    return Job.objects.filter(kind=KIND, params__server=server.pk).exclude(state__in=Job.ENDED).first()


def _run(run: jobs.Run) -> dict[str, Any]:
    server = Server.objects.filter(pk=run.params["server"]).first()
    if server is None:
        raise jobs.JobError("The server was removed meanwhile.")
    told = probe(server)
    return {"health": str(told.health.value), "banks": None if told.banks is None else len(told.banks)}


jobs.register(KIND, _run)
