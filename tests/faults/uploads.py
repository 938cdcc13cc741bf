"""Uploads of queue files, repeated until somebody says that the file is there."""

import re
import time

import httpx

from tests.faults.people import PATIENCE, PAUSE

PATH = "/imports/new/"
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def import_through(address: str, session: str, lines: list[str], *, machine: str, localhost: int) -> int:
    """Sends the file as a browser does; its import's number. A broken answer is followed by another upload.

    `localhost`: the server that the file's loopback addresses mean.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    deadline = time.monotonic() + PATIENCE
    with httpx.Client(base_url=address, cookies={"sessionid": session}, timeout=30) as browser:
        while time.monotonic() < deadline:
            try:
                token = _TOKEN.search(browser.get(PATH).text)
                answer = browser.post(
                    PATH,
                    data={
                        "csrfmiddlewaretoken": token[1] if token else "",
                        "machine": machine,
                        "localhost": str(localhost),
                    },
                    files={"file": ("review-queue.jsonl", content)},
                    headers={"Referer": f"{address}{PATH}"},
                )
                if answer.status_code == 303:
                    return int(answer.headers["location"].strip("/").rpartition("/")[2])
            except httpx.TransportError:
                pass
            time.sleep(PAUSE)
    raise TimeoutError("the file was not taken")
