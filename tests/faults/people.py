"""Reviewers as programs: they look at cards and press buttons over HTTP, impatiently, and remember what they were told.

Nobody answers: they press again, with what was on their screen. That is what people do, and what makes doubles.
"""

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import unescape

import httpx

PATIENCE = 120.0  # seconds until an answer
PAUSE = 0.1  # seconds until the button is pressed again
PRESSES, LOOKS = 6, 30  # of one person in one round, at most
WEIGHTS = {"approve": 20, "delete": 25, "edit": 30, "undo": 20, "put-back": 15}
TWICE = 0.25  # how often a button is pressed twice at once

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
_PUT_BACK = re.compile(r'action="(/log/\d+/put-back/)"')


@dataclass
class Act:
    """One intention of one person, and everything that was answered to it."""

    person: str
    kind: str
    entry: int
    version: int = 0  # on screen
    text: str = ""  # an edit's, as it should be stored
    answers: list[str] = field(default_factory=list)  # "done", "refused", "cut", "fault 500"

    @property
    def done(self) -> bool:
        return "done" in self.answers

    @property
    def cut(self) -> bool:
        """Something may have happened without an answer."""
        return "cut" in self.answers


class Reviewer:
    def __init__(self, name: str, address: str, session: str, *, seed: str, pressing: Callable[[], None]) -> None:
        """`pressing()` is told before each press of a button."""
        self.name, self.address, self.session = name, address, session
        self.random, self.pressing = random.Random(seed), pressing
        self.acts: list[Act] = []
        self.mine: set[int] = set()  # entries whose last decision, as far as they know, is theirs

    def review(self, entries: list[int]) -> None:
        with self._browser() as browser:
            for _ in range(LOOKS):
                self._act(browser, self.random.choice(entries))
                if len(self.acts) >= PRESSES:
                    return

    def _browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, cookies={"sessionid": self.session}, timeout=30)

    def _act(self, browser: httpx.Client, entry: int) -> None:
        """Looks at the card of this entry and presses one of the buttons that are on it."""
        page = self._look(browser, f"/reviews/{entry}/")
        offered = self._offered(page, entry)
        if not offered:
            return
        kind = self.random.choices(list(offered), [WEIGHTS[name] for name in offered])[0]
        path = offered[kind]
        if kind == "edit":
            page = self._look(browser, path)
        form = _form_with(page, path)
        if form is None:  # somebody was faster
            return
        fields = {name: unescape(value) for name, value in _HIDDEN.findall(form)}
        act = Act(self.name, kind, entry, version=int(fields.get("version", 0)))
        if kind == "edit":
            act.text = f"{_subject(page)} was edited by {self.name}, act {len(self.acts)}.\nПроверено – {entry}: ✓."
        self.acts.append(act)
        self._press(browser, path, fields, act)
        self.mine.discard(entry)
        if act.done and kind in ("approve", "delete"):
            self.mine.add(entry)

    def _offered(self, page: str, entry: int) -> dict[str, str]:
        """{kind: path} of the buttons on this card that can be pressed. People take back only what was theirs."""
        found = {}
        for kind in ("approve", "delete"):
            path = f"/reviews/{entry}/{kind}/"
            if (button := re.search(rf'<button[^>]*formaction="{path}[^>]*>', page)) and " disabled" not in button[0]:
                found[kind] = path
        if f'href="/reviews/{entry}/edit/' in page:
            found["edit"] = f"/reviews/{entry}/edit/"
        if entry in self.mine and _form_with(page, f"/reviews/{entry}/undo/"):
            found["undo"] = f"/reviews/{entry}/undo/"
        if put_back := _PUT_BACK.search(page):
            found["put-back"] = put_back[1]
        return found

    def _look(self, browser: httpx.Client, path: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = browser.get(path)
                if answer.status_code < 500:
                    return answer.text
            except httpx.TransportError:
                pass
            if time.monotonic() > deadline:
                raise TimeoutError(f"no page for {PATIENCE:g} s: {path}")
            time.sleep(PAUSE)

    def _press(self, browser: httpx.Client, path: str, fields: dict[str, str], act: Act) -> None:
        """Once, or twice at the same moment. Who edits twice does it in two tabs, with two texts."""
        self.pressing()
        if self.random.random() >= TWICE:
            self._until_answered(browser, path, fields | self._text_of(act), act)
            return
        again = act
        if act.kind == "edit":
            again = replace(act, text=f"{act.text} In another tab.", answers=[])
            self.acts.append(again)
        with self._browser() as other:
            other.cookies.update(browser.cookies)
            second = threading.Thread(
                target=self._until_answered, args=(other, path, fields | self._text_of(again), again)
            )
            second.start()
            self._until_answered(browser, path, fields | self._text_of(act), act)
            second.join()

    @staticmethod
    def _text_of(act: Act) -> dict[str, str]:
        """As forms send it."""
        return {"text": act.text.replace("\n", "\r\n")} if act.text else {}

    def _until_answered(self, browser: httpx.Client, path: str, fields: dict[str, str], act: Act) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                answer = browser.post(path, data=fields, headers={"Referer": f"{self.address}{path}"})
            except httpx.ConnectError:
                pass  # nobody listened: nothing can have happened
            except httpx.TransportError:
                act.answers.append("cut")
            else:
                act.answers.append(_word(answer))
                return
            time.sleep(PAUSE)
        act.answers.append("never answered")


def _form_with(page: str, path: str) -> str | None:
    """The form that has this address, on itself or on one of its buttons."""
    forms = (form.partition("</form>")[0] for form in page.split("<form")[1:])
    return next((form for form in forms if path in form), None)


def _word(answer: httpx.Response) -> str:
    """A decision that was taken answers with a redirect to a card or to the queue."""
    if answer.status_code == 303:
        return "done" if answer.headers["location"].startswith("/reviews/") else "refused"
    if answer.status_code in (200, 409, 422):
        return "refused"
    return f"fault {answer.status_code}"


def _subject(page: str) -> str:
    """The name that the document on this page speaks of: facts of two documents never meet in an observation."""
    found = re.search(r"\bSubject[A-Z][a-z]+\b", page)
    return found[0] if found else "Subjectless"
