"""Files on their way into a bank, which its server turns into text: each is a write of its own.

    uploads = receive(request.FILES.getlist("file"), kind="file")  # raises Refused, which names the files
    sent = retain_files(user=person, bank=bank, uploads=uploads, about=[{"tags": ["team"]}], via=Write.Via.WEB)

Bytes come first and rows second, so that no row is without its bytes; what has bytes and no row is removed an hour
later. When a write has ended its bytes are forgotten.
"""

from banks.files.taking import Sent, Upload, forget, receive, retain_files, take_back

__all__ = ["Sent", "Upload", "forget", "receive", "retain_files", "take_back"]
