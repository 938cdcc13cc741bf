"""Retired facts of a bank, as the archive knows them."""

from banks.models import Bank, Blob, Write
from reviews import fact_words
from reviews.models import FactDecision


def retired(bank: Bank, number: int, **values: object) -> FactDecision:
    text = str(values.pop("text", f"Fact number {number}."))
    document = str(values.pop("document_id", f"doc-{number}"))
    made = FactDecision.objects.create(
        **{
            "bank": bank, "document_id": document, "document_hash": Write.hash_of(document), "fact_id": f"f{number}",
            "extracted": Blob.objects.store(text), "preview": FactDecision.preview_of(text), "verdict": "retired",
            "reason": f"reason {number}", "user_name": "Ann Weber", **values,
        }
    )  # fmt: skip
    fact_words.keep([made.pk])
    return made
