"""The seeds that come with memadmin, under the ids and budgets that agents give their own: each finds the other's."""

from banks.seeds.shape import GLOBAL, PER_PROJECT, TAGGED, SeedSpec

_BY_ITSELF = {"mode": "full", "refresh_after_consolidation": True}

BUILT_IN: tuple[SeedSpec, ...] = (
    SeedSpec(
        id="user-preferences",
        name="User Preferences",
        source_query=(
            "How does the person behind these memories like to work? Name what holds across tasks: the style of code "
            "they want, tools and commands they prefer or refuse, how they want to be answered, what they insist on in "
            "a review. Take what they said themselves or showed more than once. Leave out wishes for a single task and "
            "anything about work that is under way. Where later statements replace earlier ones, give the later."
        ),
        scopes=(GLOBAL, PER_PROJECT, TAGGED),
        max_tokens=1_500,
        trigger=_BY_ITSELF,
        built_in=True,
    ),
    SeedSpec(
        id="project-conventions",
        name="Project Conventions",
        source_query=(
            "Which rules does this project follow? Cover code style, how it is built, tested and released, and what a "
            "change must satisfy before it is merged. A rule counts when it is written down in the repository or was "
            "enforced repeatedly; name exact commands and limits where they are known. Leave out habits of one person, "
            "proposals nobody adopted, and rules that were given up."
        ),
        scopes=(PER_PROJECT, TAGGED),
        project_tagged=True,
        max_tokens=1_200,
        trigger=_BY_ITSELF,
        built_in=True,
    ),
    SeedSpec(
        id="project-decisions",
        name="Project Decisions",
        source_query=(
            "Which decisions about architecture and product does this project stand on? For each: what was decided, "
            "why, what was given up for it, and what it rules out. Take decisions that hold today; a decision that was "
            "reversed appears only with what replaced it. Leave out plans, open questions and the state of tasks."
        ),
        scopes=(PER_PROJECT, TAGGED),
        project_tagged=True,
        max_tokens=1_200,
        trigger=_BY_ITSELF,
        built_in=True,
    ),
)
