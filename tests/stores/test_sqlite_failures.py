"""When SQLite or the machine fails: each failure in our words, and nothing half done."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import apsw
import pytest

from firsthand.errors import (
    FirsthandError,
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from firsthand.model import Message
from firsthand.ports import MessageQuery, Store
from firsthand.stores.sqlite import open_sqlite
from firsthand.stores.sqlite.failures import TRANSLATION, from_sqlite, from_system
from firsthand.testing.store.samples import ALEX, NOW, claim, contents, fill, message, say


def _open(path: Path, wait: float = 30.0) -> Store:
    return open_sqlite(path, store_id=lambda: "thisstore", wait=wait, durable=False)


def _ids(store: Store) -> list[str]:
    with store.reading(ALEX) as read:
        return [each.id for each in read.messages.walk(MessageQuery())]


def _run(script: str, *arguments: str) -> str:
    """What a Python process of its own prints."""
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.run(command, env=paths, capture_output=True, text=True, check=True, timeout=60).stdout  # noqa: S603


# -- translation --------------------------------------------------------------------------------------------------


def test_every_error_of_sqlite_has_a_translation() -> None:
    """Style: a test lists every foreign error and fails on an unmapped one."""
    foreign = {each for each in vars(apsw).values() if isinstance(each, type) and issubclass(each, apsw.Error)}
    assert foreign == set(TRANSLATION)
    for kind, (ours, words) in TRANSLATION.items():
        assert issubclass(ours, FirsthandError)
        line = str(from_sqlite(kind("details"), "a.db"))
        assert line.startswith("a.db: ")
        assert words in line
        assert "\n" not in line


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_is_no_room_however_it_is_said(code: int) -> None:
    """Issue 2: disk full. A quota and a limit on file size are the same to the caller."""
    assert isinstance(from_sqlite(apsw.IOError("disk I/O error"), "a.db", code), StoreFull)
    assert isinstance(from_system(OSError(code, os.strerror(code)), "a.db"), StoreFull)


def test_a_failing_device_is_not_a_full_one() -> None:
    """Ours: the words lead the caller to the right remedy."""
    assert isinstance(from_sqlite(apsw.IOError("disk I/O error"), "a.db", errno.EIO), StoreUnavailable)
    assert isinstance(from_system(PermissionError(errno.EACCES, "Permission denied"), "a.db"), StoreUnavailable)
    torn = apsw.IOError("disk I/O error")
    torn.extendedresult = apsw.SQLITE_IOERR_SHORT_READ  # type: ignore[attr-defined]
    assert isinstance(from_sqlite(torn, "a.db"), StoreCorrupt)


def test_a_defect_of_ours_is_said_to_be_one(tmp_path: Path) -> None:
    """Style: broken promises are exceptions of the one tree, whatever broke."""
    store = _open(tmp_path / "a.db")
    with pytest.raises(StoreError, match="report it"), store.reading(ALEX) as read:
        read._queries.script("SELECT nonsense")  # type: ignore[attr-defined]
    assert _ids(store) == []
    store.close()


# -- input that cannot be stored ----------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["content", "id_", "session", "metadata"])
def test_a_lone_surrogate_is_refused_whole(tmp_path: Path, field: str) -> None:
    """Issue 2: one clear error, whole batch refused."""
    store = _open(tmp_path / "a.db")
    bad: dict[str, Any] = {field: {"note": "\udcff"} if field == "metadata" else "bad \udcff"}
    with pytest.raises(InvalidInput, match="surrogate"), store.writing(ALEX, NOW) as work:  # noqa: PT012 - the block
        good = message(work, "m1")
        work.messages.add([good, message(work, **{"id_": "m2", **bad})])
    assert _ids(store) == []
    store.close()


def test_a_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    """Ours: JSON has no word for it, so it would not come back."""
    store = _open(tmp_path / "a.db")
    with pytest.raises(InvalidInput, match="finite"), store.writing(ALEX, NOW) as work:
        say(work, "m1", metadata={"score": float("nan")})
    with pytest.raises(InvalidInput, match="large"), store.writing(ALEX, NOW) as work:
        work.beside.add_use(["m1"], 2**70)
    store.close()


def test_a_long_message_survives(tmp_path: Path) -> None:
    """Issue 2: 10 MB are a message like any other to the store."""
    store = _open(tmp_path / "a.db")
    words = "naïve " * 2_000_000
    with store.writing(ALEX, NOW) as work:
        said: Message = say(work, "m1", words)
    with store.reading(ALEX) as read:
        assert list(read.messages.walk(MessageQuery())) == [said]
    assert store.check() == []
    store.close()


# -- no room ------------------------------------------------------------------------------------------------------


def test_a_full_device_undoes_the_write_and_the_next_one_succeeds(tmp_path: Path) -> None:
    """Issue 2: disk full: one clear line, nothing half done, nothing lost of what was acknowledged."""
    store = _open(tmp_path / "a.db")
    fill(store, ALEX, "kept")
    with store.reading(ALEX) as read:
        before, head = contents(read), read.head()
    _limit_pages(store, 1)
    with pytest.raises(StoreFull, match="no room"), store.writing(ALEX, NOW) as work:  # noqa: PT012 - the block
        say(work, "m8", "small")
        claim(work, "o8", ("m8",))
        say(work, "m9", "large " * 100_000)
    with store.reading(ALEX) as read:
        assert (contents(read), read.head()) == (before, head)
    _limit_pages(store, 1_000_000)
    with store.writing(ALEX, NOW) as work:
        say(work, "m9", "large " * 100_000)
    assert _ids(store) == ["m1", "m2", "m9"]
    assert store.check() == []
    store.close()


def _limit_pages(store: Store, pages: int) -> None:
    """Let the file grow to this many pages; it never shrinks below what it has."""
    with store._connection() as connection:  # type: ignore[attr-defined]
        connection.script(f"PRAGMA max_page_count = {pages}")


def test_nothing_follows_on_a_write_that_was_undone(tmp_path: Path) -> None:
    """Ours: a caller who swallows the error inside the block does not get the rest of it kept row by row."""
    store = _open(tmp_path / "a.db")
    fill(store, ALEX, "kept")
    _limit_pages(store, 1)
    with pytest.raises(StoreFull), store.writing(ALEX, NOW) as work:  # noqa: PT012 - the block is what is tested
        with pytest.raises(StoreFull):
            say(work, "m9", "large " * 100_000)
        with pytest.raises(StoreFull):
            work.beside.add_use(["m9"], 1)
        with pytest.raises(StoreFull):
            say(work, "m10", "")
    with store.reading(ALEX) as read:
        assert [each.id for each in read.messages.walk(MessageQuery())] == ["m1", "m2"]
        assert "m9" not in read.beside.uses()
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="limits on file size are POSIX")
def test_a_limit_on_file_size_is_no_room(tmp_path: Path) -> None:
    """Issue 2: the operating system's own refusal, in the log as much as in the file."""
    script = """
        import resource, sys
        from firsthand.errors import StoreFull
        from firsthand.stores.sqlite import open_sqlite
        from firsthand.testing.store.samples import ALEX, NOW, say

        store = open_sqlite(sys.argv[1], store_id=lambda: "s", durable=False)
        with store.writing(ALEX, NOW) as work:
            say(work, "first")
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, most))
        kept = 0
        try:
            while True:
                with store.writing(ALEX, NOW) as work:
                    say(work, f"m{kept}", "words " * 2_000)
                kept += 1
        except StoreFull as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with store.writing(ALEX, NOW) as work:
            say(work, "last")
        print(kept, store.check())
        store.close()
    """
    message_, counted = _run(script, str(tmp_path / "a.db")).splitlines()
    kept, faults = counted.split(maxsplit=1)
    assert "no room" in message_
    assert (int(kept) > 0, faults) == (True, "[]")
    store = _open(tmp_path / "a.db")
    assert _ids(store) == ["first", *(f"m{n}" for n in range(int(kept))), "last"]
    store.close()


# -- damage -------------------------------------------------------------------------------------------------------


def _damaged(path: Path, old: bytes, new: bytes) -> None:
    whole = path.read_bytes()
    assert whole.count(old) >= 1
    path.write_bytes(whole.replace(old, new))


@pytest.mark.parametrize(("old", "new", "named"), [("Lisbon", "Lixbon", "m1"), ("Porto, yes", "Porto, nay", "o1")])
def test_a_changed_byte_is_found(tmp_path: Path, old: str, new: str, named: str) -> None:
    """C058: damage inside a text is found although the file is sound; the line names the row, not the words."""
    store = _open(tmp_path / "a.db")
    with store.writing(ALEX, NOW) as work:
        say(work, "m1", "I live in Lisbon")
        claim(work, "o1", value="Porto, yes")
    store.close()
    _damaged(tmp_path / "a.db", old.encode(), new.encode())
    store = _open(tmp_path / "a.db")
    (line,) = store.check()
    assert named in line
    assert new not in line
    store.close()


def test_a_damaged_page_is_found_and_what_can_be_read_is_read(tmp_path: Path) -> None:
    """C058: damage is an error of the tree or a line of the check, never a crash, never silence."""
    store = _open(tmp_path / "a.db")
    for n in range(300):
        with store.writing(ALEX, NOW) as work:
            say(work, f"m{n}", f"words {n} " * 20)
    store.close()
    whole = bytearray((tmp_path / "a.db").read_bytes())
    page = whole.index(b"words 150 ") // 4096
    whole[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    (tmp_path / "a.db").write_bytes(whole)
    store = _open(tmp_path / "a.db")
    assert store.check()
    with pytest.raises(StoreCorrupt):
        _ids(store)
    with store.reading(ALEX) as read:
        assert [each.id for each in read.messages.walk(MessageQuery(limit=3))] == ["m0", "m1", "m2"]
    store.close()


def test_a_changed_byte_of_an_encrypted_file_is_found(tmp_path: Path) -> None:
    """Ours: each page is authenticated, so damage cannot even be read."""
    store = open_sqlite(tmp_path / "a.db", key="key", store_id=lambda: "s")
    for n in range(100):
        with store.writing(ALEX, NOW) as work:
            say(work, f"m{n}", f"words {n} " * 20)
    store.close()
    whole = bytearray((tmp_path / "a.db").read_bytes())
    for page in range(3, len(whole) // 4096):
        whole[page * 4096 + 2000] ^= 1
    (tmp_path / "a.db").write_bytes(whole)
    with pytest.raises(StoreError):
        _ids(open_sqlite(tmp_path / "a.db", key="key", store_id=lambda: "s"))


def test_a_torn_log_loses_only_what_it_tore(tmp_path: Path) -> None:
    """C058: a log that ends in the middle of a write is read up to there."""
    store = _open(tmp_path / "a.db")
    for n in range(5):
        with store.writing(ALEX, NOW) as work:
            say(work, f"m{n}")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    store.close()
    log = (copy / "a.db-wal").read_bytes()
    (copy / "a.db-wal").write_bytes(log[: len(log) - 5000] + b"\x00" * 1000)
    store = _open(copy / "a.db")
    assert _ids(store) == ["m0", "m1", "m2", "m3"]
    assert store.check() == []
    store.close()


# -- others in the way --------------------------------------------------------------------------------------------


def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    """C055: on timeout a clear error that may be retried; the one who writes is not disturbed."""
    store, other = _open(tmp_path / "a.db"), _open(tmp_path / "a.db", wait=0.05)
    with store.writing(ALEX, NOW) as work:
        say(work, "m1")
        with pytest.raises(StoreBusy, match="try again"), other.writing(ALEX, NOW):
            pass
        assert _ids(other) == []
    with other.writing(ALEX, NOW) as work:
        say(work, "m2")
    assert _ids(store) == ["m1", "m2"]
    for each in (store, other):
        each.close()


def test_another_programs_lock_is_waited_for_and_told_of(tmp_path: Path) -> None:
    """C055: SQLite's own lock is what counts, also where a shell holds it without asking for its turn."""
    store = _open(tmp_path / "a.db", wait=0.05)
    shell = apsw.Connection(str(tmp_path / "a.db"))
    shell.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy), store.writing(ALEX, NOW):
        pass
    shell.execute("ROLLBACK")
    shell.close()
    with store.writing(ALEX, NOW) as work:
        say(work, "m1")
    assert _ids(store) == ["m1"]
    store.close()


def test_a_thread_that_would_wait_for_itself_is_told_so(tmp_path: Path) -> None:
    """Ours: a write inside a write can never come to its turn."""
    store = _open(tmp_path / "a.db")
    with store.writing(ALEX, NOW) as work:
        say(work, "m1")
        with pytest.raises(StoreBusy, match="already"), store.writing(ALEX, NOW):
            pass
        with pytest.raises(StoreBusy, match="already"):
            store.set_facts({"embedder": "x"})
    assert _ids(store) == ["m1"]
    store.close()
