"""The Redis cache, forgiving: a cache that is down is a cache that misses, never an error page."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

import redis
from django.core.cache.backends.redis import RedisCache

logger = logging.getLogger(__name__)


def _forgive(method: str, when_down: Any) -> Callable[..., Any]:
    original = getattr(RedisCache, method)

    @wraps(original)
    def forgiving(self: "ForgivingRedisCache", *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            logger.warning("the cache does not answer (%s): going on without it", type(error).__name__)
            return when_down(args, kwargs)

    return forgiving


class ForgivingRedisCache(RedisCache):
    """Nothing that must be right may rest on it: decisions and slots are conditional updates in the database."""

    add = _forgive("add", lambda args, kwargs: True)
    get = _forgive("get", lambda args, kwargs: kwargs.get("default", args[1] if len(args) > 1 else None))
    set = _forgive("set", lambda args, kwargs: None)
    touch = _forgive("touch", lambda args, kwargs: False)
    delete = _forgive("delete", lambda args, kwargs: False)
    get_many = _forgive("get_many", lambda args, kwargs: {})
    set_many = _forgive("set_many", lambda args, kwargs: [])
    delete_many = _forgive("delete_many", lambda args, kwargs: None)
    has_key = _forgive("has_key", lambda args, kwargs: False)
