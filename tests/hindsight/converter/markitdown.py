"""A stand-in for the converter of files: the real server finds it in the place of the real one, which is large.

What is text stays what it is; what is none, or says BROKEN, cannot be converted.
"""

from pathlib import Path


class StreamInfo:
    def __init__(self, **about: object) -> None:
        pass


class Result:
    def __init__(self, text: str) -> None:
        self.text_content = text


class MarkItDown:
    def convert(self, path: str, stream_info: StreamInfo | None = None) -> Result:
        text = Path(path).read_bytes().decode()
        if "BROKEN" in text:
            raise ValueError("it is broken")
        return Result(text)
