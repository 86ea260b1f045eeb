"""Files that people have, read as conversations: one module a format.

`read` takes a path that the person named; `read_bytes` the same from memory. `detect` says which format it is. A
file is read and checked whole before its first conversation is given out, so that a fault in its last line stores
nothing. Reading the same file again gives the same message ids, which is what makes a long import safe to repeat.
Nothing is ever unpacked to disk, followed or fetched.
"""

from firsthand.ledger.formats.conversation import Conversation
from firsthand.ledger.formats.reading import FORMATS, File, detect, load, read, read_bytes

__all__ = ["FORMATS", "Conversation", "File", "detect", "load", "read", "read_bytes"]
