"""A decision as a person sees it: from the key to the heading of the next card, in Chromium."""

import shutil
from collections.abc import Iterator
from statistics import median, quantiles
from typing import Any

from tests.bench.timing import Result
from tests.bench.world import Profile

TIMES, WARM_UP = 150, 8
READING = 500  # milliseconds between two decisions: nobody decides on what they have not looked at
PRESSED = """() => {
  window.taken = [];
  addEventListener("keydown", () => { window.pressed = performance.now(); window.focused = 0; }, true);
  addEventListener("focusin", (event) => {
    if (event.target.matches("h1") && !window.focused) {
      window.focused = performance.now();
      window.taken.push(window.focused - window.pressed);
    }
  });
}"""


def keypress(profiles: list[Profile]) -> Iterator[Result]:
    """Decisions of ours and as many bare swaps of the same bytes, in turns, with 100,000 memories in the queue."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for profile in profiles:
            with profile.inside() as django:
                django.call("fill:fill", entries=143_000, banks=12, seen=12)
                yield from _measured(chromium, django, profile.name)
        chromium.close()


def _measured(chromium: Any, django: Any, name: str) -> Iterator[Result]:
    about = django.call("browser:serve")
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": about["session"], "url": about["url"]}])
    ours, floor = context.new_page(), context.new_page()
    posts: list[str] = []
    ours.on("request", lambda request: posts.append(request.url) if "/approve/" in request.url else None)
    ours.goto(about["url"] + about["card"])
    floor.goto(about["url"] + "/floor/swap/")
    for page in (ours, floor):
        page.evaluate(PRESSED)
    floor.evaluate(
        """() => {
          const swap = { target: "#main", swap: "outerHTML show:none" };
          addEventListener("keydown", () => htmx.ajax("POST", "/floor/card/", swap));
          document.addEventListener("htmx:afterSettle", () => document.querySelector("#main [data-focus]").focus());
        }"""
    )
    for pause, label in [(READING, "keypress"), (0, "keypress_at_once")]:
        posts.clear()
        mine, bare = _in_turns(ours, floor, pause)
        note = f"p95 {_p95(mine):.0f} of {_p95(bare):.0f} ms, {len(posts) / (TIMES + WARM_UP):.2f} requests"
        yield Result(label, median(mine), median(bare), "ms", name, 2.0, note)
    yield Result("decision_answer_kb", django.call("browser:size") / 1024, 12.0, "KB", name, 1.0)
    context.close()


def _in_turns(ours: Any, floor: Any, pause: int) -> tuple[list[float], list[float]]:
    for page in (ours, floor):
        page.evaluate("window.taken = []")
    for number in range(1, TIMES + WARM_UP + 1):
        ours.bring_to_front()
        before = ours.locator("#announce").text_content()
        ours.wait_for_timeout(pause)
        ours.keyboard.press("a")
        ours.wait_for_function("(said) => document.getElementById('announce').textContent !== said", arg=before)
        floor.bring_to_front()
        floor.keyboard.press("a")
        floor.wait_for_function("(number) => window.taken.length >= number", arg=number)
    return [page.evaluate("window.taken")[WARM_UP:] for page in (ours, floor)]  # type: ignore[return-value]


def _p95(taken: list[float]) -> float:
    return quantiles(taken, n=20)[-1]
