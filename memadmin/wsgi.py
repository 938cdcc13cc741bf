"""WSGI entry point (`granian --interface wsgi memadmin.wsgi:application`)."""

import os
import signal
import time
from importlib import import_module
from pathlib import Path

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from memadmin.runtime import die_with_parent

if os.environ.get("MEMADMIN_SUPERVISED"):
    # The web server's own children: it cannot take them along when it is killed.
    die_with_parent(os.getppid(), signal.SIGKILL)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memadmin.settings")

if gate := os.environ.get("MEMADMIN_STARTS_AFTER"):
    # `memadmin up` prepares tables and static files meanwhile: what takes time is loaded beside that, and nothing is
    # served or read before the file is there.
    django.setup()
    import_module(settings.ROOT_URLCONF)
    while not Path(gate).exists():
        time.sleep(0.02)

application = get_wsgi_application()
