"""The product's settings, with Django's admin beside it as something to compare with, and no broker."""

from memadmin.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.admin"]  # noqa: F405
ROOT_URLCONF = "tests.bench.urls"
ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_BROKER_URL = "memory://"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405  WhiteNoise asks for it
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Answers are timed, not written about.
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "ERROR"}}
# The admin has template tags of the same name.
TEMPLATES[0]["OPTIONS"]["libraries"] = {"log": "memadmin.templatetags.log"}  # noqa: F405
