"""The sample memories of the demo: banks with documents, and the review queue that an agent would have written about
them.

Every word is invented. Ages are counted back from the moment of filling, so that a demo is always fresh.
"""

from banks.demo.samples.content import SampleBank, SampleDocument, load
from banks.demo.samples.fill import fill
from banks.demo.samples.queue import sample_queue

__all__ = ["SampleBank", "SampleDocument", "fill", "load", "sample_queue"]
