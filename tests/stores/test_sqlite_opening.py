"""Opening the embedded store: paths, keys, other people's files, older and newer schemas."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from firsthand.errors import FirsthandError, InvalidInput, SchemaTooNew, StoreUnavailable
from firsthand.model import Owner
from firsthand.ports import MessageQuery, Store
from firsthand.stores.sqlite import open_sqlite
from firsthand.stores.sqlite.adapter import SqliteStore
from firsthand.stores.sqlite.database import Database, Options
from firsthand.stores.tables.schema import Migration, Schema, schema_of
from firsthand.testing.store.samples import ALEX, NOW, say


def _id() -> str:
    return "thisstore"


def _fill(path: Path, key: str | bytes | None = None, words: str = "hello") -> None:
    store = open_sqlite(path, key=key, store_id=_id)
    with store.writing(ALEX, NOW) as work:
        say(work, "m1", words)
    store.close()


def _words(store: Store, owner: Owner = ALEX) -> list[str]:
    with store.reading(owner) as read:
        return [each.content for each in read.messages.walk(MessageQuery())]


def _refused(path: object, kind: type[FirsthandError], *words: str, key: str | bytes | None = None) -> str:
    """Opening the path fails with one line that holds these words."""
    with pytest.raises(kind) as caught:
        open_sqlite(path, key=key, store_id=_id)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    for each in words:
        assert each in message
    return message


# -- paths --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """C060: private permissions, also of what lies beside the file."""
    store = open_sqlite(tmp_path / "a.db", store_id=_id)
    with store.writing(ALEX, NOW) as work:
        say(work, "m1")
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    store.close()


@pytest.mark.parametrize(
    "name", ["file:x?mode=memory", "file:///etc/passwd?mode=ro", ":memory:.db", "-wal", "a b ü 東.db", "x" * 240]
)
def test_a_name_is_a_plain_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: nothing in a name switches SQLite to another file, another mode, or no file at all."""
    monkeypatch.chdir(tmp_path)
    flat = name.replace("/", "_")
    _fill(Path(flat))
    assert (tmp_path / flat).stat().st_size > 0
    assert _words(_opened(tmp_path / flat)) == ["hello"]


def _opened(path: Path, key: str | None = None) -> Store:
    return open_sqlite(path, key=key, store_id=_id)


def test_a_relative_path_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C060: changing the working folder afterwards opens no second file."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    store = open_sqlite("a.db", store_id=_id)
    monkeypatch.chdir(tmp_path / "two")
    with store.writing(ALEX, NOW) as work, store.reading(ALEX):
        say(work, "m1")
    store.close()
    assert list((tmp_path / "two").iterdir()) == []
    assert len(_words(_opened(tmp_path / "one" / "a.db"))) == 1


def test_a_link_leads_to_the_file_itself(tmp_path: Path) -> None:
    """Ours: through a link or not, it is one store with one log and one turn to write."""
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    one, other = _opened(tmp_path / "link.db"), _opened(tmp_path / "real.db")
    with one.writing(ALEX, NOW) as work:
        say(work, "m1", "hello")
    assert _words(other) == ["hello"]
    assert not (tmp_path / "link.db-lock").exists()
    for store in (one, other):
        store.close()


def test_a_path_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """Issue 2: wrong path, a folder, no permission: one clear line each, nothing half done."""
    _refused(tmp_path / "none" / "a.db", StoreUnavailable, "none/a.db", "folder does not exist")
    _refused(tmp_path, StoreUnavailable, str(tmp_path), "a folder")
    _refused(tmp_path / ("x" * 400), StoreUnavailable, "too long")
    _refused("a\0b", InvalidInput, "NUL")
    _refused("", InvalidInput, "path")
    _refused(b"a.db", InvalidInput, "path")
    _refused("a\udcff.db", InvalidInput, "UTF-8")
    (tmp_path / "file").write_text("x")
    _refused(tmp_path / "file" / "a.db", StoreUnavailable, "not a directory")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Ours: opening it would hang."""
    os.mkfifo(tmp_path / "pipe")
    _refused(tmp_path / "pipe", StoreUnavailable, "not an ordinary file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_place_without_permission_is_refused(tmp_path: Path) -> None:
    """C060: a clear error on a read-only place."""
    _fill(tmp_path / "a.db")
    (tmp_path / "a.db").chmod(0o400)
    _refused(tmp_path / "a.db", StoreUnavailable, "may not be written")
    tmp_path.chmod(0o500)
    _refused(tmp_path / "new.db", StoreUnavailable, "ermission")
    tmp_path.chmod(0o700)


def test_a_store_that_may_only_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C060: a read-only place is a clear error at once, not at the first write."""
    _fill(tmp_path / "a.db")
    opened = apsw.Connection
    monkeypatch.setattr(apsw, "Connection", lambda path, **_: opened(path, flags=apsw.SQLITE_OPEN_READONLY))
    _refused(tmp_path / "a.db", StoreUnavailable, "may not be written")


# -- keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["quote ' \" ; -- \\", "ключ 鍵", b"\x00\xff" * 16, "x" * 5_000])
def test_any_key_opens_what_it_closed(tmp_path: Path, key: str | bytes) -> None:
    """Issue 2: `key=` opens an encrypted file; nothing readable is in it."""
    _fill(tmp_path / "a.db", key, "canary words")
    store = open_sqlite(tmp_path / "a.db", key=key, store_id=_id)
    assert _words(store) == ["canary words"]
    for file in tmp_path.iterdir():
        assert b"canary" not in file.read_bytes()
        assert b"CREATE TABLE" not in file.read_bytes()
    store.close()


def test_a_wrong_key_is_told_in_one_line(tmp_path: Path) -> None:
    """Issue 2: wrong key. The file stays as it was, and the key is not repeated."""
    _fill(tmp_path / "a.db", "right")
    before = (tmp_path / "a.db").read_bytes()
    assert "hunter2" not in _refused(tmp_path / "a.db", StoreUnavailable, "wrong key", key="hunter2")
    _refused(tmp_path / "a.db", StoreUnavailable, "needs its key")
    assert (tmp_path / "a.db").read_bytes() == before
    assert _words(_opened(tmp_path / "a.db", "right")) == ["hello"]


def test_a_key_on_a_file_without_one_is_refused(tmp_path: Path) -> None:
    """Ours: nobody should believe that a plain file is encrypted."""
    _fill(tmp_path / "a.db")
    _refused(tmp_path / "a.db", StoreUnavailable, "not encrypted", key="right")


@pytest.mark.parametrize("key", ["", b""])
def test_an_empty_key_is_refused(tmp_path: Path, key: str | bytes) -> None:
    """Ours: SQLite would take it for none and leave the file readable."""
    _refused(tmp_path / "a.db", InvalidInput, "empty", key=key)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_kept_is_not_readable_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: `:memory:` may use a temporary file, under a key that nobody else has, and takes it along."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = open_sqlite(":memory:", store_id=_id)
    with store.writing(ALEX, NOW) as work:
        say(work, "m1", "canary words")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not any(b"canary" in file.read_bytes() for file in files)
    assert _words(store) == ["canary words"]
    store.close()
    assert list(tmp_path.iterdir()) == []


# -- other files --------------------------------------------------------------------------------------------------


def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Issue 2: not a database. A long text and a short one alike."""
    for name, content in (("long", b"dear diary, " * 1000), ("short", b"dear")):
        (tmp_path / name).write_bytes(content)
        _refused(tmp_path / name, StoreUnavailable, "not a firsthand file")
        _refused(tmp_path / name, StoreUnavailable, "not a firsthand file", key="key")
        assert (tmp_path / name).read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    """C059: never makes itself at home beside existing data."""
    other = apsw.Connection(str(tmp_path / "a.db"))
    other.execute("CREATE TABLE memories (x); INSERT INTO memories VALUES ('theirs')")
    other.close()
    before = (tmp_path / "a.db").read_bytes()
    _refused(tmp_path / "a.db", StoreUnavailable, "another program")
    assert (tmp_path / "a.db").read_bytes() == before


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    """Ours: a killed first opening, or `touch`, leaves one."""
    (tmp_path / "a.db").touch()
    store = _opened(tmp_path / "a.db")
    assert (store.id, store.owners()) == ("thisstore", [])
    store.close()


def test_a_store_keeps_its_id(tmp_path: Path) -> None:
    """Design: the store's id is part of every position; it is given once."""
    given = iter(["first", "second"])
    for _ in range(2):
        store = open_sqlite(tmp_path / "a.db", store_id=lambda: next(given))
        assert store.id == "first"
        store.close()


# -- schemas ------------------------------------------------------------------------------------------------------

PACKAGE = "firsthand.stores.sqlite"
NOW_AT = schema_of(PACKAGE).version
NEXT = Migration(
    f"{NOW_AT + 1:04}_moods", "ALTER TABLE messages ADD COLUMN mood TEXT; UPDATE messages SET mood = 'fine'"
)
BROKEN = Migration(f"{NOW_AT + 2:04}_broken", "UPDATE messages SET mood = 'lost'; CREATE TABLE messages (x)")


def _schema(*steps: Migration) -> Schema:
    now = schema_of(PACKAGE)
    return Schema(f"{now.script};\n{';'.join(step.script for step in steps)}", (*now.migrations, *steps))


def _open_as(path: Path, schema: Schema, key: bytes | None = None) -> SqliteStore:
    database = Database(str(path), Options(key=key), schema)
    database.open(_id)
    return SqliteStore(database)


def test_a_newer_file_is_refused_in_words(tmp_path: Path) -> None:
    """C059: a newer schema is refused clearly, and the file is left as it is."""
    _open_as(tmp_path / "a.db", _schema(NEXT)).close()
    before = (tmp_path / "a.db").read_bytes()
    _refused(tmp_path / "a.db", SchemaTooNew, "newer firsthand", f"schema {NOW_AT + 1}", "upgrade")
    assert (tmp_path / "a.db").read_bytes() == before


@pytest.mark.parametrize("key", [None, b"right"])
def test_an_older_file_is_copied_and_brought_up(tmp_path: Path, key: bytes | None) -> None:
    """C059: upgrade backs up, then migrates; the copy is under the same key and opens as what it was."""
    _fill(tmp_path / "a.db", key)
    store = _open_as(tmp_path / "a.db", _schema(NEXT), key)
    assert _words(store) == ["hello"]
    assert store.facts()["schema"] == str(NOW_AT + 1)
    store.close()
    copy = tmp_path / f"a.db.before-{NOW_AT + 1:04}"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600 or sys.platform == "win32"
    assert key is None or b"hello" not in copy.read_bytes()
    shutil.copy(copy, tmp_path / "b.db")
    old = open_sqlite(tmp_path / "b.db", key=key, store_id=_id)
    assert _words(old) == ["hello"]
    assert old.facts()["schema"] == str(NOW_AT)
    old.close()


def test_a_migration_that_fails_leaves_the_step_before(tmp_path: Path) -> None:
    """C059: each step in one transaction; the file opens afterwards as far as it came."""
    _fill(tmp_path / "a.db")
    with pytest.raises(FirsthandError):
        _open_as(tmp_path / "a.db", _schema(NEXT, BROKEN))
    store = _open_as(tmp_path / "a.db", _schema(NEXT))
    assert _words(store) == ["hello"]
    with store._connection() as connection:
        assert connection.script("SELECT mood FROM messages") == [("fine",)]
    store.close()


def test_an_erasure_reaches_the_copies_that_upgrades_made(tmp_path: Path) -> None:
    """Design: erasure removes bytes, wherever this library put them."""
    from firsthand.ports import Removal

    _fill(tmp_path / "a.db", words="canary")
    store = _open_as(tmp_path / "a.db", _schema(NEXT))
    assert b"canary" in (tmp_path / f"a.db.before-{NOW_AT + 1:04}").read_bytes()
    with store.writing(ALEX, NOW) as work:
        work.erase(Removal(everything=True), [])
    store.scrub()
    assert not any(b"canary" in file.read_bytes() for file in tmp_path.iterdir())
    store.close()


def test_a_first_opening_that_fails_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """Issue 2: nothing half done: the next opening finds a new file."""

    def no_id() -> str:
        raise ZeroDivisionError

    opening: Callable[[], Store] = lambda: open_sqlite(tmp_path / "a.db", store_id=no_id)  # noqa: E731
    with pytest.raises(ZeroDivisionError):
        opening()
    _fill(tmp_path / "a.db")
    assert _words(_opened(tmp_path / "a.db")) == ["hello"]
