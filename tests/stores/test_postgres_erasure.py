"""What of an erasure is left in the server's own files, and who takes it."""

from __future__ import annotations

from firsthand import Memory
from postgres_place import Place

SECRET = "the marzipan password of the lighthouse"


def held(place: Place) -> list[str]:
    """The table files of a database that hold the words."""
    place.execute("CHECKPOINT")
    ((number,),) = place.execute(f"SELECT oid FROM pg_database WHERE datname = '{place.name}'")
    files = (place.server.folder / "base" / str(number)).iterdir()
    return [each.name for each in files if SECRET.encode() in each.read_bytes()]


def test_the_tables_owner_takes_the_bytes_of_what_was_erased(postgres: Place) -> None:
    """C047: erasure reaches dead rows: an application says what is left, `maintain` as the owner takes it."""
    with postgres.another("erasing") as place:
        with Memory(place.url) as memory:
            alex = memory.user("alex")
            alex.observe([f"I found {SECRET}.", "I live in Lisbon."])
            memory.user("sam").observe(["I stay."])
            message = next(iter(alex.messages()))
            assert held(place) != []
            assert not alex.forget(message.id).complete
            assert memory.health()["erasure_unfinished"]
            memory.maintain()
            assert memory.health()["erasure_unfinished"], "an ordinary role cannot"
        assert held(place) != []
        with Memory(place.owners_url) as memory:
            assert memory.health()["erasure_unfinished"], "opening as the owner locks no tables"
            memory.maintain()
            assert not memory.health()["erasure_unfinished"]
            assert memory.health()["ok"]
        assert held(place) == []
        with Memory(place.url) as memory:
            assert [message.content for message in memory.user("alex").messages()] == ["I live in Lisbon."]
            assert memory.user("sam").recall("who stays?")
