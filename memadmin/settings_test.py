"""Settings of the test suite: a throw-away data folder, no broker, quick password hashes."""

import os
import tempfile

for _name in ("HINDSIGHT_BASE_URL", "HINDSIGHT_NAMESPACE", "HINDSIGHT_API_KEY", "MEMADMIN_DEMO", "MEMADMIN_PRODUCTION"):
    os.environ.pop(_name, None)  # what the shell says about a real installation is none of a test's business
os.environ.setdefault("MEMADMIN_DATA_DIR", tempfile.mkdtemp(prefix="memadmin-test-"))
os.environ.setdefault("MEMADMIN_SECRET_KEY", "test-secret-key-that-is-long-enough-for-the-checks-of-django-0123456789")

from memadmin.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405  WhiteNoise asks for it
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, as people have it: an in-memory database has other locks, and races between threads prove nothing there.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
# Tasks never run by themselves in a test: messages go to a broker in memory that nobody reads.
CELERY_BROKER_URL = "memory://"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
