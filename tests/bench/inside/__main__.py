"""One line in, one line out: [name, arguments] → what the function returns."""

import importlib
import json
import os
import sys


def main() -> None:
    # Whatever prints must not end up in the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        module, _, function = name.partition(":")
        answer = getattr(importlib.import_module(f"tests.bench.inside.{module}"), function)(**arguments)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
