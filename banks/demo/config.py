"""How a bank of the demo server is set: every setting is kept and read back, few have any effect here."""

from typing import Any

from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request
from banks.demo.store import pack, stamp, unpack

_DEFAULTS: dict[str, Any] = {
    "audit_log_enabled": True,
    "consolidation_llm_batch_size": 8,
    "consolidation_llm_parallelism": 4,
    "consolidation_max_memories_per_round": 100,
    "consolidation_source_facts_max_tokens": 4096,
    "consolidation_source_facts_max_tokens_per_observation": 256,
    "consolidation_strategies": None,
    "consolidation_use_decision_model": True,
    "default_observation_scopes": None,
    "disposition_empathy": None,
    "disposition_literalism": None,
    "disposition_skepticism": None,
    "enable_auto_consolidation": True,
    "enable_graph_retrieval": True,
    "enable_observations": True,
    "enable_reranking": True,
    "enable_temporal_retrieval": True,
    "enable_text_search": True,
    "entities_allow_free_form": True,
    "entity_labels": None,
    "knowledge_page_default_trigger": None,
    "llm_gemini_safety_settings": None,
    "max_observations_per_scope": -1,
    "mcp_enabled_tools": None,
    "memory_defense": None,
    "mental_model_delta_use_decision_model": True,
    "mental_model_min_refresh_interval_seconds": 0,
    "mental_model_refresh_use_decision_model": True,
    "observation_scope_limits": None,
    "observations_mission": None,
    "recall_budget_adaptive_high": 0.25,
    "recall_budget_adaptive_low": 0.025,
    "recall_budget_adaptive_mid": 0.075,
    "recall_budget_fixed_high": 1000,
    "recall_budget_fixed_low": 100,
    "recall_budget_fixed_mid": 300,
    "recall_budget_function": "fixed",
    "recall_budget_max": 2000,
    "recall_budget_min": 20,
    "recall_chunks_max_tokens": 1000,
    "recall_include_chunks": True,
    "recall_max_tokens": 2048,
    "recall_prefer_observations": False,
    "reflect_default_options": None,
    "reflect_mission": None,
    "reflect_source_facts_max_tokens": -1,
    "reflect_use_decision_model": True,
    "retain_chunk_batch_size": 100,
    "retain_chunk_size": 3000,
    "retain_custom_instructions": None,
    "retain_default_strategy": None,
    "retain_extraction_mode": "concise",
    "retain_max_attachments_per_chunk": 8,
    "retain_mission": None,
    "retain_strategies": None,
    "retain_structured_chunk_size": None,
    "store_document_text": True,
}
# What stands empty: the type of the others is that of their default.
_TEXTS = frozenset(
    [
        "observations_mission",
        "reflect_mission",
        "retain_custom_instructions",
        "retain_default_strategy",
        "retain_mission",
    ]
)
_WHOLE = frozenset(["disposition_empathy", "disposition_literalism", "disposition_skepticism"])
_SECRET = frozenset(["llm_api_key", "llm_base_url", "embeddings_api_key", "reranker_api_key"])
_TYPES: dict[type, str] = {bool: "a boolean", int: "an integer", float: "a number", str: "a string"}


def get_config(request: Request) -> dict[str, Any]:
    require_bank(request)
    return _shown(request)


def patch_config(request: Request) -> dict[str, Any]:
    """Changes the settings that are named, all or none. Null takes an override back. A missing bank is created."""
    updates = request.json(frozenset({"updates"})).get("updates")
    if not isinstance(updates, dict):
        raise Problem(422, "updates: Input should be a valid dictionary")
    _check(updates)
    ensure_bank(request)
    for name, value in updates.items():
        request.store.run("DELETE FROM config WHERE bank_id = ? AND name = ?", request.bank_id, name)
        if value is not None:
            request.store.insert("config", {"bank_id": request.bank_id, "name": name, "value": pack(value)})
        if name == "reflect_mission":  # the list of banks shows it
            sql = "UPDATE banks SET mission = ?, updated_at = ? WHERE bank_id = ?"
            request.store.run(sql, value or "", stamp(request.now), request.bank_id)
    return _shown(request)


def export_bank(request: Request) -> dict[str, Any]:
    """What could be given to another bank: own settings and models, no memories."""
    require_bank(request)
    sql = "SELECT id, name, source_query FROM mental_models WHERE bank_id = ? ORDER BY id"
    models = [dict(row) for row in request.store.rows(sql, request.bank_id)]
    own = _own(request)
    return {"version": "1", "bank": own or None, "mental_models": models or None, "directives": None}


def _check(updates: dict[str, Any]) -> None:
    if secret := sorted(updates.keys() & _SECRET):
        raise Problem(
            400,
            f"Cannot set credential fields via API: {secret}. "
            "Credentials (API keys, base URLs) must be set at server level only.",
        )
    if unknown := sorted(updates.keys() - _DEFAULTS.keys()):
        known = sorted(_DEFAULTS)[:10]
        raise Problem(400, f"Unknown configuration fields: {unknown}. Valid configurable fields: {known}...")
    for name, value in updates.items():
        wanted = _type_of(name)
        if value is not None and wanted is not None and not _fits(value, wanted):
            raise Problem(400, f"{name} must be {_TYPES[wanted]}, got {type(value).__name__}")


def _type_of(name: str) -> type | None:
    """None: whatever it is."""
    if name in _TEXTS:
        return str
    default = 1 if name in _WHOLE else _DEFAULTS[name]
    return None if default is None else type(default)


def _fits(value: Any, wanted: type) -> bool:
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, (int, float) if wanted is float else wanted)


def _own(request: Request) -> dict[str, Any]:
    rows = request.store.rows("SELECT name, value FROM config WHERE bank_id = ?", request.bank_id)
    overrides = {row["name"]: unpack(row["value"]) for row in rows}
    mission = request.store.row("SELECT mission FROM banks WHERE bank_id = ?", request.bank_id)
    if mission and mission["mission"]:
        overrides["reflect_mission"] = mission["mission"]
    return overrides


def _shown(request: Request) -> dict[str, Any]:
    overrides = _own(request)
    return {"bank_id": request.bank_id, "config": {**_DEFAULTS, **overrides}, "overrides": overrides}
