"""WSGI entry point (`granian --interface wsgi memadmin.wsgi:application`)."""

import os
import signal

from django.core.wsgi import get_wsgi_application

from memadmin.runtime import die_with_parent

if os.environ.get("MEMADMIN_SUPERVISED"):
    # The web server's own children: it cannot take them along when it is killed.
    die_with_parent(os.getppid(), signal.SIGKILL)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memadmin.settings")

application = get_wsgi_application()
