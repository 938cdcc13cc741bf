"""What the tool's configuration may say: its keys, their variables and what holds where nobody sets them."""

import re
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["text", "mission", "whole", "number", "flag", "choice", "list", "object"]


@dataclass(frozen=True, slots=True)
class Key:
    """`default` None = none. `env`: the variable of the agent's own process, "" where there is none."""

    name: str
    kind: Kind
    default: Any = None
    says: str = ""
    options: tuple[str, ...] = field(default=())

    @property
    def env(self) -> str:
        return ENV.get(self.name, f"HINDSIGHT_{_words(self.name)}")

    @property
    def env_parts(self) -> list[str]:
        """Where a long name may be broken."""
        return re.findall("[^_]+_?", self.env)


def _words(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in name)


# Variables that are not the key's own name in capitals.
ENV = {
    "bankId": "HINDSIGHT_BANK",
    "userBankId": "HINDSIGHT_USER_BANK",
    "modelId": "HINDSIGHT_MODEL",
    "recallModelId": "HINDSIGHT_RECALL_MODEL",
    "retainModelId": "HINDSIGHT_RETAIN_MODEL",
    "priorSummaryPath": "HINDSIGHT_PRIOR_SUMMARY",
    "factCategories": "",
}

GROUPS: tuple[tuple[str, tuple[Key, ...]], ...] = (
    (
        "Bank",
        (
            Key("bankId", "text", says="the project's own, or “auto”: the name of its folder"),
            Key("userBankId", "text", "", "of the person, across projects; empty = none"),
            Key("baseUrl", "text", "http://localhost:8888"),
            Key("namespace", "text", "default"),
        ),
    ),
    (
        "What is written",
        (
            Key("autoMemorize", "flag", True),
            Key("memoryLanguage", "text", "en", "the language that facts are written in"),
            Key("retainMission", "mission", says="pushed to the bank when a session starts"),
            Key("observationsMission", "mission", says="pushed to the bank when a session starts"),
            Key("factCategories", "object"),
            Key("factInvalidation", "flag", True, "whether a write may retire facts, with a quote"),
            Key("retainModelId", "text", "openai/gpt-5.6-luna"),
            Key("retainModelChain", "list", []),
            Key("summaryMaxTokens", "whole", 6000),
            Key("chunkInputFraction", "number", 0.5),
        ),
    ),
    (
        "What is recalled",
        (
            Key("autoRecall", "flag", True),
            Key("recallEffort", "choice", "normal", options=("light", "normal", "thorough")),
            Key("recallFilter", "choice", "model", options=("model", "off")),
            Key("recallBudget", "choice", "mid", options=("low", "mid", "high")),
            Key("recallMaxLines", "whole", 8, "facts that are injected in a turn, at most"),
            Key("recallMaxTokens", "whole", 2048),
            Key("recallContextTokens", "whole", 5000),
            Key("recallMaxQueries", "whole", 8),
            Key("recallModelId", "text", "openai/gpt-5.6-luna"),
            Key("recallModelChain", "list", []),
            Key("deepRecallQueries", "whole", 5),
            Key("deepRecallMaxLines", "whole", 24),
            Key("taskDetect", "flag", True),
            Key("taskHistoryTurns", "whole", 12),
            Key("taskTitleTail", "whole", 8),
        ),
    ),
    (
        "The tool itself",
        (
            Key("modelId", "text", says="for both, where neither has one of its own"),
            Key("reviewAutoApproveDays", "number", 7, "0 or less: never"),
            Key("bankReminder", "flag", True),
            Key("bankReminderTurns", "whole", 5),
            Key("countsRefreshMs", "whole", 20000),
            Key("deltaDir", "text", ".pi/hindsight/delta"),
            Key("priorSummaryPath", "text", ".pi/hindsight/prior-summary.md"),
            Key("logPath", "text", ".pi/hindsight/log.jsonl"),
            Key("dispatchLogPath", "text", ".pi/hindsight/dispatch-log.jsonl"),
            Key("debug", "flag", False, "logs whole prompts"),
        ),
    ),
)
KEYS = {key.name: key for _, keys in GROUPS for key in keys}
