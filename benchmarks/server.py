"""A memory on a server, as people and messages grow: writing, recall by many clients at once, and what it takes.

    python -m benchmarks.server [--users 10,100,1000] [--each 1000] [--clients 1,8,32] [--db postgresql://…]

For each size: that many people get that many messages each, forty to a call, and every client (a process of its own)
asks people drawn at random: the first question to a person who is not in the client's memory (cold), and the next one
(warm). Beside it, in the same run and the same database, stands the least that plain SQL can do: bare inserts of the
same texts and vectors into one table with an index for words, as many to a transaction, and the ten best of a person's
rows by `ts_rank_cd` for the same questions. Wall time, since a server works beside its clients. Without --db a server
is started, with every commit flushed to disk. Sizes grow in one database: each adds to what is there.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.growth import Known
from benchmarks.place import served
from benchmarks.texts import PER_SESSION, messages, questions, source
from firsthand import Memory

TENANT = "scale"
QUESTIONS = 60  # of all clients together, to people each drawn at random
TEXTS = 5_000  # different texts; people share them
FLOOR = (
    "CREATE TABLE floor.floor (tenant text, user_id text, n integer, content text, vector bytea,"
    " words tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED, PRIMARY KEY (tenant, user_id, n))"
)
INSERT = "INSERT INTO floor (tenant, user_id, n, content, vector) VALUES (%s, %s, %s, %s, %s)"
BEST = (
    "SELECT n, content FROM floor, (SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery AS q) AS a"
    " WHERE tenant = %s AND user_id = %s AND words @@ q ORDER BY ts_rank_cd(words, q) DESC LIMIT 10"
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of each question of one client."""

    cold: Sequence[float]
    warm: Sequence[float]
    floor: Sequence[float]
    kept: int  # bytes of people in the client's memory


def main() -> None:
    """Print a table of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", default="10,100,1000", help="people, separated by commas")
    parser.add_argument("--each", type=int, default=1000, help="messages of each person")
    parser.add_argument("--clients", default="1,8,32", help="processes that ask at once, separated by commas")
    parser.add_argument("--db", help="the address of a server whose tables are there; one is started unless given")
    parser.add_argument("--owner-db", help="the same database for a role that may make a schema beside it")
    given = parser.parse_args()
    sizes, crowds = ([int(each) for each in listed.split(",")] for listed in (given.users, given.clients))
    texts = source(None).texts(TEXTS, 1)
    asked = questions(texts, 1000, 2)
    with served(given.db, given.owner_db) as (address, owners):
        plain = _floor(owners)
        filled = 0
        for size in sizes:
            print("\n".join(_write(plain, address, texts, (filled, size, given.each))), flush=True)
            for clients in crowds:
                print(_line(clients, _ask((plain, address), clients, size, asked)), flush=True)
            filled = size


def _floor(owners: str) -> str:
    """The address under which the plain table is, made anew in a schema of its own."""
    import psycopg

    with psycopg.connect(owners, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS floor")
        connection.execute("DROP TABLE IF EXISTS floor.floor")
        connection.execute(FLOOR)
        connection.execute("CREATE INDEX ON floor.floor USING gin (words)")
    return f"{owners}{'&' if '?' in owners else '?'}options=-c%20search_path%3Dfloor"


# -- writing -----------------------------------------------------------------------------------------------------


def _write(plain: str, address: str, texts: Sequence[str], size: tuple[int, int, int]) -> Iterator[str]:
    first, last, each = size
    known = Known()
    with Memory(address, writer="none", embedder=known) as memory:
        vectors = dict(zip(texts, [row.tobytes() for row in known.embed(texts).astype("<f2")], strict=True))
        ours = theirs = 0.0
        for number in range(first, last):
            said = [texts[(7 * number + at) % len(texts)] for at in range(each)]
            ours += _observe(memory, number, said)
            theirs += _insert(plain, number, [(text, vectors[text]) for text in said])
    added = (last - first) * each
    yield f"\n{last:,} people, {last * each:,} messages"
    yield (
        f"  written: {added / ours:,.0f} messages/s by one client, bare inserts {added / theirs:,.0f},"
        f" ratio {theirs / ours:.2f}; {', '.join(_sizes(plain))}"
    )
    yield f"  {'clients':>7}{'':>10}{'cold p50':>10}{'p95':>8}{'warm p50':>10}{'p95':>8}{'SQL p50':>9}{'p95':>8}  ratio"


def _observe(memory: Memory, number: int, said: Sequence[str]) -> float:
    user = memory.user(f"p{number}", tenant=TENANT)
    stamped = messages(said)
    began = time.perf_counter()
    for at in range(0, len(stamped), PER_SESSION):
        user.observe(stamped[at : at + PER_SESSION], session=f"s{at // PER_SESSION}")
    return time.perf_counter() - began


def _insert(plain: str, number: int, rows: Sequence[tuple[str, bytes]]) -> float:
    import psycopg

    with psycopg.connect(plain) as connection, connection.cursor() as cursor:
        began = time.perf_counter()
        for at in range(0, len(rows), PER_SESSION):
            batch = rows[at : at + PER_SESSION]
            cursor.executemany(INSERT, [(TENANT, f"p{number}", at + n, *row) for n, row in enumerate(batch)])
            connection.commit()
        return time.perf_counter() - began


def _sizes(plain: str) -> Iterator[str]:
    """What the tables take on disk, with their indexes."""
    import psycopg

    size = (
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
    )
    with psycopg.connect(plain, autocommit=True) as connection:
        for name, schema in (("ours", "firsthand"), ("theirs", "floor")):
            found = connection.execute(size.encode(), (schema,)).fetchone()
            yield f"{int(found[0]) / 1e6:,.0f} MB {name}" if found else name


# -- asking ------------------------------------------------------------------------------------------------------


def _ask(places: tuple[str, str], clients: int, people: int, asked: Sequence[str]) -> list[Spent]:
    forked = multiprocessing.get_context("fork")
    gate, answers = forked.Barrier(clients), forked.SimpleQueue()
    each = max(3, QUESTIONS // clients)
    crowd = [
        forked.Process(target=_client, args=((*places, people), number, asked[: 2 * each], (gate, answers)))
        for number in range(clients)
    ]
    for process in crowd:
        process.start()
    spent = [answers.get() for _ in crowd]
    for process in crowd:
        process.join()
    return spent


def _client(places: tuple[str, str, int], number: int, asked: Sequence[str], others: tuple[Any, Any]) -> None:
    import psycopg

    chance = random.Random(number)  # noqa: S311 - figures must repeat
    (plain, address, people), (gate, answers) = places, others
    cold, warm, floor = [], [], []
    with Memory(address, writer="none") as memory, psycopg.connect(plain, autocommit=True) as connection:
        memory.user("p0", tenant=TENANT).recall("warm up")
        connection.execute(BEST, ("warm up", TENANT, "p0"))
        gate.wait()
        for first, second in zip(asked[::2], asked[1::2], strict=True):
            name = f"p{chance.randrange(people)}"
            user = memory.user(name, tenant=TENANT)
            memory.snapshots.forget(user.owner)
            cold.append(_timed(lambda user=user, text=first: user.recall(text)))
            warm.append(_timed(lambda user=user, text=second: user.recall(text)))
            asking = (second, TENANT, name)
            floor.append(_timed(lambda asking=asking: connection.execute(BEST, asking).fetchall()))
        answers.put(Spent(cold, warm, floor, memory.snapshots.nbytes))


def _timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def _line(clients: int, spent: Sequence[Spent]) -> str:
    cold, warm, floor = (
        sorted(ms for each in spent for ms in getattr(each, name)) for name in ("cold", "warm", "floor")
    )
    figures = "".join(f"{_share(each, 50):>10.1f}{_share(each, 95):>8.1f}" for each in (cold, warm))
    kept = max(each.kept for each in spent) / 1e6
    return (
        f"  {clients:>7}{'':>10}{figures}{_share(floor, 50):>9.1f}{_share(floor, 95):>8.1f}"
        f"{_share(warm, 50) / _share(floor, 50):>7.2f}  ({kept:.0f} MB kept by a client)"
    )


def _share(values: Sequence[float], percent: int) -> float:
    return values[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    main()
