"""How a Django connection reaches PostgreSQL, for its own programs and library."""

from django.db.backends.base.base import BaseDatabaseWrapper


def parameters(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """What libpq is told, by its own keywords; the password is among them."""
    from psycopg.pq import Conninfo  # only where PostgreSQL is used

    known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    told = connection.get_connection_params()
    return {name: str(value) for name, value in told.items() if name in known and value}


def environment(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """The same as the variables which PostgreSQL's programs read."""
    from psycopg.pq import Conninfo

    names = {option.keyword.decode(): option.envvar.decode() for option in Conninfo.get_defaults() if option.envvar}
    return {names[name]: value for name, value in parameters(connection).items() if name in names}
