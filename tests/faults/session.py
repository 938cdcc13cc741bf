"""All rounds of one run, and what they come to."""

import time

from tests.faults import evidence, world
from tests.faults.retains import HEAD as RETAINS
from tests.faults.retains import RetainPlay
from tests.faults.rounds import DOCUMENTS, HEAD, Play, Round, entries_of, wait_until_quiet
from tests.faults.stack import Stack
from tests.faults.uploads import import_through, kill_while_importing, make_file

KINDS = ("lost", "doubled", "unexplained")


class Session:
    def __init__(self, stack: Stack, rounds: int) -> None:
        self.stack = stack
        self.names = {
            number: [f"round {number}/note {n}.md" for n in range(DOCUMENTS)] for number in range(1, rounds + 1)
        }
        self.done: list[Round] = []
        self.wrong_imports = 0

    def prepare(self) -> None:
        """The documents of all rounds come as one queue file, and are loaded, before anybody is killed."""
        everything = [name for names in self.names.values() for name in names]
        world.retain(f"http://127.0.0.1:{self.stack.line.target}", everything, first=0)
        self.bank = world.open_bank(self.stack.line.url)
        sessions = {name: world.session_of(name) for name in world.NAMES}
        lines = world.queue_lines(self.bank, everything)
        import_through(self.stack.address, sessions["ann"], lines, machine="before", localhost=self.bank.server_id)
        self.entries: dict[int, list[int]] = {}
        left = wait_until_quiet(self._unready, self.stack)
        assert not left, left
        self.play = Play(self.stack, self.bank, sessions)
        print(HEAD, flush=True)

    def _unready(self) -> list[str]:
        self.entries = {number: entries_of(self.bank, names) for number, names in self.names.items()}
        missing = [f"entry of round {n}" for n, found in self.entries.items() if len(found) != len(self.names[n])]
        return missing + evidence.open_work([pk for found in self.entries.values() for pk in found])

    def round(self, number: int, seed: int) -> Round:
        result = self.play.round(number, seed, self.entries[number])
        self.done.append(result)
        print(result.line(), flush=True)
        for sentence in [*(f"waited long for {what}" for what in result.waited_for), *result.found.all]:
            print(f"      {sentence}", flush=True)
        return result

    def import_round(self, number: int, seed: int) -> int:
        """How many accusations there are after an upload whose workers were killed."""
        upload = make_file(self.bank, seed)
        began = time.monotonic()
        wrong = kill_while_importing(
            self.stack, upload, seed, session=self.play.sessions["ann"], localhost=self.bank.server_id
        )
        self.wrong_imports += len(wrong)
        figures = f"{len(upload.lines)} lines in {time.monotonic() - began:.1f} s, {len(wrong)} wrong"
        print(f"import {number:4} {seed:7}  {figures}  {' '.join(upload.kills)}", flush=True)
        for sentence in wrong:
            print(f"      {sentence}", flush=True)
        return len(wrong)

    def retain_rounds(self, count: int, seed: int) -> int:
        """How many accusations there are after so many rounds of the retain queue."""
        if not count:
            return 0
        began, play = time.monotonic(), RetainPlay(self.stack)
        done = []
        print(RETAINS, flush=True)
        for number in range(1, count + 1):
            done.append(result := play.round(number, seed * 1000 + number))
            print(result.line(), flush=True)
            for sentence in result.found.all:
                print(f"      {sentence}", flush=True)
        kills, accepted = sum(len(each.kills) for each in done), sum(each.accepted for each in done)
        lost, doubled, unexplained = (sum(len(getattr(each.found, kind)) for each in done) for kind in KINDS)
        print(
            f"{count} rounds of retains in {time.monotonic() - began:.0f} s: {kills} processes killed, {accepted} "
            f"requests accepted; {lost} lost, {doubled} doubled, {unexplained} unexplained",
            flush=True,
        )
        return lost + doubled + unexplained

    def summary(self, seconds: float) -> str:
        rounds = self.done
        kills = sum(len(each.kills) for each in rounds)
        acts, cut = sum(each.acts for each in rounds), sum(each.cut for each in rounds)
        lost, doubled, unexplained = (sum(len(getattr(each.found, kind)) for each in rounds) for kind in KINDS)
        return (
            f"{len(rounds)} rounds in {seconds:.0f} s: {kills} processes killed, {acts} acts, "
            f"{cut} without an answer at first; {lost} lost, {doubled} doubled, {unexplained} unexplained; "
            f"{self.wrong_imports} wrong in imports"
        )
