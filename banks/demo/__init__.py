"""A small Hindsight server inside memadmin: for a first look without a real one, and for tests."""

from banks.demo.http import Pace
from banks.demo.samples import fill, sample_queue
from banks.demo.server import DemoServer
from banks.demo.transport import DemoTransport

__all__ = ["DemoServer", "DemoTransport", "Pace", "fill", "sample_queue"]
