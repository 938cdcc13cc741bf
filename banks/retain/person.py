"""A person's bank has standing facts about somebody, true in any repository. Only who names it as one writes there.

So nothing that runs by itself can: no session, no file, no project's memory and no import says `user_bank`.
"""

from collections.abc import Sequence

from banks.models import Bank, RetainItem, Write
from banks.retain.params import Item, Problem, Refused
from banks.retain.scope import GLOBAL, TAG

BY_HAND = (Write.Via.WEB, Write.Via.API, Write.Via.CLI)
NOT_NAMED = "This is a person's bank. Only a request that says so, by `user_bank`, writes there. Nothing was stored."
NO_PERSONS = "This is no person's bank. Without `user_bank` it is taken as a project's. Nothing was stored."
NO_PROJECTS = "This is a person's bank: what belongs to a project does not go there. Nothing was stored."
NO_FILES = "This is a person's bank: no file goes there. Nothing was stored."
NO_FILES_NOW = "The bank became a person's since, and no file goes there. Nothing was sent; discard this."
NOT_FOR_A_PERSON = "It came for a project, and the bank became a person's since. It is not sent there; discard it."
NOT_HELD = (
    "This bank holds for review what arrives through memadmin, and what a file says is known only when its server has "
    "read it. Retain its text instead. Nothing was stored."
)


def check(
    bank: Bank,
    items: Sequence[Item],
    *,
    named: bool,
    via: Write.Via,
    mode: str,
    project: str,
    document_tags: Sequence[str] = (),
) -> None:
    """Raises Refused (422) unless this request may write into this bank, which is as it is now."""
    if not bank.personal and not named:
        return
    if not bank.personal:
        raise Refused([Problem(None, "user_bank", NO_PERSONS)])
    if not named or via not in BY_HAND:
        raise Refused([Problem(None, "user_bank", NOT_NAMED)])
    if mode != GLOBAL or project.strip():
        raise Refused([Problem(None, "project" if mode == GLOBAL else "scope", NO_PROJECTS)])
    wrong = [Problem(None, "document_tags", NO_PROJECTS)] if _of_projects(document_tags) else []
    for number, item in enumerate(items):
        scopes = item.observation_scopes if isinstance(item.observation_scopes, list) else []
        if _of_projects(item.tags):
            wrong.append(Problem(number, "tags", NO_PROJECTS))
        if any(map(_of_projects, scopes)):
            wrong.append(Problem(number, "observation_scopes", NO_PROJECTS))
    if wrong:
        raise Refused(wrong)


def _of_projects(tags: Sequence[str]) -> bool:
    return any(tag.startswith(TAG) for tag in tags)


def may_be_sent(bank: Bank, row: RetainItem) -> bool:
    """Asked at the moment of sending: a bank may become a person's while memories wait, are held, or need a person."""
    return row.user_bank or not bank.personal


def check_files(bank: Bank) -> None:
    """Raises Refused (422) for a bank, as it is now, that takes no files."""
    if bank.personal or bank.hold:
        raise Refused([Problem(None, "bank", NO_FILES if bank.personal else NOT_HELD)])
