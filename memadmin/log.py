"""What our log lines carry."""

import logging


class RequestIdFilter(logging.Filter):
    """Adds the request's id to records that know their request: the number that the error page shows."""

    def filter(self, record: logging.LogRecord) -> bool:
        request_id = getattr(getattr(record, "request", None), "request_id", "")
        record.request_id = f" [request {request_id}]" if request_id else ""
        return True
