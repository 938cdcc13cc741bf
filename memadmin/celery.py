"""The Celery application: two queues, so that neither a slow server nor a big import stops decisions."""

import os

from celery import Celery

from memadmin.tracing import TracedTask

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memadmin.settings")

app = Celery("memadmin", task_cls=TracedTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
