"""Settings of the test suite: a throw-away data folder, quick password hashes, and no broker on SQLite.

With MEMADMIN_TEST_DATABASE_URL and MEMADMIN_TEST_REDIS_URL (tests/services sets both): PostgreSQL and Redis.
"""

import os
import tempfile

for _name in ("HINDSIGHT_BASE_URL", "HINDSIGHT_NAMESPACE", "HINDSIGHT_API_KEY", "MEMADMIN_DEMO", "MEMADMIN_PRODUCTION"):
    os.environ.pop(_name, None)  # what the shell says about a real installation is none of a test's business
for _name in ("DATABASE_URL", "REDIS_URL"):
    os.environ.pop(f"{_name}_FILE", None)
    os.environ[_name] = os.environ.get(f"MEMADMIN_TEST_{_name}", "")
if "PYTEST_XDIST_WORKER" in os.environ:  # else the processes of a run would sweep away each other's uploads
    os.environ.pop("MEMADMIN_DATA_DIR", None)
os.environ.setdefault("MEMADMIN_DATA_DIR", tempfile.mkdtemp(prefix="memadmin-test-"))
for _name, _value in {
    "ISSUER": "http://127.0.0.1:9",
    "CLIENT_ID": "memadmin",
    "CLIENT_SECRET": "hush",
    "NAME": "Example",
}.items():
    os.environ[f"MEMADMIN_OIDC_{_name}"] = _value  # nobody answers there; a test that needs an issuer starts one
os.environ.setdefault("MEMADMIN_SECRET_KEY", "test-secret-key-that-is-long-enough-for-the-checks-of-django-0123456789")

from memadmin import runtime  # noqa: E402
from memadmin.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405  WhiteNoise asks for it
QUEUE_FILE = "off"  # a developer's own file is none of a test's business either
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Of fifty threads on a machine with much else to do the last one waits long; that is nothing that a test asserts.
_PATIENCE = 120  # seconds
SOCIALACCOUNT_REQUESTS_TIMEOUT = _PATIENCE
# Tasks never run by themselves in a test: nobody reads the messages.
if os.environ["DATABASE_URL"]:
    # Each process of a parallel run has a Redis database of its own; pytest-django does the same for PostgreSQL.
    _process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw-1").removeprefix("gw")) + 1
    REDIS_URL = f"{REDIS_URL}?db={_process}"  # noqa: F405
    CACHES["default"]["LOCATION"] = REDIS_URL  # noqa: F405
    CELERY_BROKER_URL = runtime.broker_url(REDIS_URL)
    DATABASES["default"]["TEST"] = {"NAME": "memadmin_test"}  # noqa: F405
    DATABASES["default"]["OPTIONS"]["pool"]["timeout"] = _PATIENCE  # noqa: F405
else:
    CACHES["default"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}  # noqa: F405
    CELERY_BROKER_URL = "memory://"
    # A file, as people have it: an in-memory database has other locks, and races between threads prove nothing there.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
    DATABASES["default"]["OPTIONS"]["init_command"] += f"PRAGMA busy_timeout={_PATIENCE * 1000};"  # noqa: F405
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
