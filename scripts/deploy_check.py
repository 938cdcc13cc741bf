"""`manage.py check --deploy` under the settings of a production installation; any warning fails."""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ("DJANGO_", "HINDSIGHT_", "MEMADMIN_")  # what this shell says about another installation


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        production = {
            "DJANGO_SETTINGS_MODULE": "memadmin.settings",
            "MEMADMIN_PRODUCTION": "yes",
            "MEMADMIN_DATA_DIR": folder,
            "MEMADMIN_SECRET_KEY": secrets.token_urlsafe(48),
            "MEMADMIN_ENCRYPTION_KEYS": secrets.token_urlsafe(48),
            "MEMADMIN_ALLOWED_HOSTS": "memadmin.example.org",
            "MEMADMIN_PUBLIC_URL": "https://memadmin.example.org",
            "DATABASE_URL": "postgres://memadmin@db.example.org/memadmin",
            "REDIS_URL": "redis://redis.example.org/0",
        }
        command = [sys.executable, str(ROOT / "manage.py"), "check", "--deploy", "--fail-level", "WARNING"]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return subprocess.call(command, env={**inherited, **production}, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
