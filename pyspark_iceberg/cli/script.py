"""Texts with several SQL statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: A string, also a raw one, a quoted identifier, the start of a comment, or the end of a statement. Without its end
#: quote, a string extends to the end of the text.
_TOKEN = re.compile(
    r"""\b[rR]'[^']*(?:'|\Z)|\b[rR]"[^"]*(?:"|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)"""
    r"|`[^`]*(?:`|\Z)|--[^\n]*|/\*|;",
    re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")


def statements(text: str) -> Iterator[str]:
    """Return the statements of a text, without the semicolons that end them.

    A semicolon in a string, in a quoted identifier or in a comment ends no statement. Statements that consist only of
    comments are left out. An unclosed string or comment remains in its statement, so that Spark reports the error.
    """
    start = position = 0
    has_code = False
    while token := _TOKEN.search(text, position):
        has_code = has_code or bool(text[position : token.start()].strip())
        position = token.end()
        if token[0] == "/*":
            end = _end_of_comment(text, position)
            # Spark reports an unclosed comment. A hint, such as /*+ BROADCAST(t) */, is in a statement that has code.
            has_code, position = has_code or end is None, end or len(text)
        elif token[0] == ";":
            if has_code:
                yield text[start : token.start()].strip()
            start, has_code = position, False
        elif not token[0].startswith("--"):
            has_code = True
    if has_code or text[position:].strip():
        yield text[start:].strip()


def _end_of_comment(text: str, position: int) -> int | None:
    """Return the end of the comment whose text starts at a position, if it ends. A comment can contain comments."""
    depth = 1
    while token := _COMMENT.search(text, position):
        depth += 1 if token[0] == "/*" else -1
        position = token.end()
        if depth == 0:
            return position
    return None
