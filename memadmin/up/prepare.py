"""What must be there before the first page: tables, static files, the first server, somebody who can sign in."""

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from kombu.exceptions import OperationalError as BrokerError

from banks.models import Server
from banks.tasks import probe_servers
from memadmin import __version__, bootstrap
from memadmin.accounts import people
from memadmin.up import samples

logger = logging.getLogger(__name__)

FINGERPRINT = ".fingerprint"


class Mixed(Exception):
    """Sample memories and real ones would share a database."""


@dataclass(frozen=True)
class Prepared:
    migrated: int  # migrations applied
    static: bool  # static files collected anew
    server: str  # the first server's name, "" without one
    operator: str
    has_password: bool
    first_run: bool  # nobody has ever signed in


def prepare() -> Prepared:
    """Idempotent; quick when there is nothing to do. `introduce` is the rest, for which no page needs to wait."""
    _refuse_to_mix()
    migrated = migrate()
    static = collect_static()
    server = bootstrap.ensure_first_server()
    operator = people.ensure_first_admin()
    return Prepared(
        migrated=migrated,
        static=static,
        server=server.name if server else "",
        operator=operator.user.username,
        has_password=operator.has_password,
        first_run=people.nobody_signed_in_yet(),
    )


def migrate() -> int:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    return len(plan)


def collect_static() -> bool:
    """Collects and hashes the static files when their sources are others than last time."""
    stamp = Path(settings.STATIC_ROOT) / FINGERPRINT
    now = _fingerprint()
    if stamp.is_file() and stamp.read_text(encoding="ascii") == now:
        return False
    call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
    stamp.write_text(now, encoding="ascii")
    return True


def _fingerprint() -> str:
    digest = hashlib.sha256(__version__.encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def introduce() -> None:
    """The banks of the first server should be there on the first page, not when beat first asks it."""
    server = bootstrap.ensure_first_server()
    if server is None:
        return
    if server.is_demo:
        samples.fill_queue(server=server, owner=people.ensure_first_admin().user)
    elif server.last_checked is None:
        try:
            probe_servers.delay()
        except (BrokerError, OSError) as error:
            logger.warning("the broker does not answer (%s): the server is asked later", type(error).__name__)


def _refuse_to_mix() -> None:
    """With the defaults the demo has its own database; an explicit DATABASE_URL could bring the two together."""
    if Server._meta.db_table not in connection.introspection.table_names():
        return
    other = Server.objects.filter(is_demo=not settings.DEMO).values_list("pk", flat=True)[:1]
    if not other:
        return
    if settings.DEMO:
        raise Mixed("DATABASE_URL names a database with real servers: the demo does not touch it. Unset DATABASE_URL.")
    raise Mixed("DATABASE_URL names a database of the demo: real memories need another one.")
