"""How a bank of the demo server is set: the settings that memadmin reads or changes, and some of the others."""

from typing import Any

from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request
from banks.demo.store import pack, stamp, unpack

_DEFAULTS: dict[str, Any] = {
    "retain_mission": None,
    "reflect_mission": None,
    "observations_mission": None,
    "retain_extraction_mode": "concise",
    "retain_custom_instructions": None,
    "retain_chunk_size": 3000,
    "enable_observations": True,
}


def get_config(request: Request) -> dict[str, Any]:
    require_bank(request)
    return _shown(request)


def patch_config(request: Request) -> dict[str, Any]:
    """Changes the settings that are named. Null takes an override back. A missing bank is created."""
    updates = request.json(frozenset({"updates"})).get("updates")
    if not isinstance(updates, dict):
        raise Problem(422, "updates: Input should be a valid dictionary")
    if unknown := sorted(updates.keys() - _DEFAULTS.keys()):
        raise Problem(400, f"Unknown or non-configurable fields: {', '.join(unknown)}")
    ensure_bank(request)
    for name, value in updates.items():
        request.store.run("DELETE FROM config WHERE bank_id = ? AND name = ?", request.bank_id, name)
        if value is not None:
            request.store.insert("config", {"bank_id": request.bank_id, "name": name, "value": pack(value)})
        if name == "reflect_mission":  # the list of banks shows it
            sql = "UPDATE banks SET mission = ?, updated_at = ? WHERE bank_id = ?"
            request.store.run(sql, value or "", stamp(request.now), request.bank_id)
    return _shown(request)


def _shown(request: Request) -> dict[str, Any]:
    rows = request.store.rows("SELECT name, value FROM config WHERE bank_id = ?", request.bank_id)
    overrides = {row["name"]: unpack(row["value"]) for row in rows}
    mission = request.store.row("SELECT mission FROM banks WHERE bank_id = ?", request.bank_id)
    if mission and mission["mission"]:
        overrides["reflect_mission"] = mission["mission"]
    return {"bank_id": request.bank_id, "config": {**_DEFAULTS, **overrides}, "overrides": overrides}
