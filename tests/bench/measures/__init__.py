"""The measures by name. Each gets the installations it may use and yields results, some of them several."""

from collections.abc import Callable, Iterator

from tests.bench.measures import bulk, curation, decision, importing, keypress, log, queue, retain, retention, stack
from tests.bench.timing import Result
from tests.bench.world import Profile

Measure = Callable[[list[Profile]], Iterator[Result]]

MEASURES: dict[str, Measure] = {
    "decision": decision.decision,
    "bulk_10k": bulk.bulk_10k,
    "keypress": keypress.keypress,
    "fact_edits": curation.fact_edits,
    "restore_speedup": curation.restore_speedup,
    "queue_growth": queue.queue_growth,
    "log_growth": log.log_growth,
    "queue_vs_admin": queue.queue_vs_admin,
    "import_first": importing.imports,
    "import_again": importing.imports,
    "retain_rate": retain.retain_rate,
    "retain_post": retain.retain_post,
    "retention_time": retention.retention,
    "stack_rss_mb": stack.stack_memory,
    "cold_start_s": stack.cold_start,
}
