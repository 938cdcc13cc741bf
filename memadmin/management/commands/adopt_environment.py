from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from memadmin import bootstrap
from memadmin.management.base import ReportCommand


class Command(ReportCommand):
    registers_first_server = False
    help = "Makes the database say what HINDSIGHT_BASE_URL, _NAMESPACE and _API_KEY say."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--moved", action="store_true", help="an unknown address is the first server's new one")

    def handle(self, **options: Any) -> None:
        if not settings.HINDSIGHT_BASE_URL:
            raise CommandError("HINDSIGHT_BASE_URL is not set: there is nothing to adopt.")
        try:
            server = bootstrap.adopt_environment(moved=options["moved"])
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        self.report({"server": server.name, "address": server.base_url, "namespace": server.namespace}, options)
