"""Import of review-queue.jsonl: lines, events, folds, placing, applying, parking."""
