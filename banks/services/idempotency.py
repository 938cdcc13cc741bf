"""Forgetting the idempotency keys of yesterday."""

from datetime import timedelta

from django.utils import timezone

from banks.models import IdempotencyKey

KEPT = timedelta(hours=24)
AT_ONCE = 5_000


def forget() -> int:
    """Idempotent. Returns how many went."""
    old = IdempotencyKey.objects.filter(created__lt=timezone.now() - KEPT).order_by("created")
    pks = list(old.values_list("pk", flat=True)[:AT_ONCE])
    return IdempotencyKey.objects.filter(pk__in=pks).delete()[0] if pks else 0
