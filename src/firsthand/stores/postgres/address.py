"""Where a database is: the address as libpq takes it, and our own options in it.

    postgresql://user:password@one,two:5432/database?target_session_attrs=any&pool=20&wait=30

Everything that libpq knows passes through; `pool` and `wait` are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from firsthand.errors import InvalidInput

SCHEMES = ("postgresql://", "postgres://")
_OURS = ("pool", "wait", "reads")
_READS = ("primary", "standby")
_SPREADING_SINCE = 160_000  # version of libpq that picks one of several hosts by chance
_MOST = 1_000_000  # of anything that an address counts

# A server that is gone without a word is noticed, on its way and while it works.
_DEFAULTS: Mapping[str, str | int] = {
    "application_name": "firsthand",
    "client_encoding": "utf8",
    "connect_timeout": 5,  # seconds for each host
    "keepalives_idle": 10,  # seconds
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds
    "target_session_attrs": "read-write",  # of several hosts, the one that takes writes
}


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and how to use it."""

    parameters: Mapping[str, str | int]  # as libpq has them
    shown: str  # the address without the password and without options
    pool: int = 20  # connections at most, but for blocks inside of blocks
    wait: float = 30.0  # seconds to wait for a turn, a lock or a server that comes back
    reads: str = "primary"  # or "standby": who answers reads, where it has caught up

    def nearest(self) -> Address:
        """The same database on a standby; on the primary where there is none."""
        spread = {"load_balance_hosts": "random"} if psycopg.pq.version() >= _SPREADING_SINCE else {}
        return replace(self, parameters={**self.parameters, "target_session_attrs": "prefer-standby", **spread})


def address_of(location: str) -> Address:
    """The address in a location. Raises InvalidInput, never repeating a password."""
    try:
        parts = urlsplit(location)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        ours = {name: value for name, value in given if name in _OURS}
        rest = urlencode([(name, value) for name, value in given if name not in _OURS], quote_via=quote)
        parameters = conninfo_to_dict(urlunsplit(parts._replace(query=rest)))
    except (ValueError, psycopg.Error):
        raise InvalidInput(
            "the address is not one that PostgreSQL understands; it reads postgresql://user@host:5432/database"
        ) from None
    merged = {**_DEFAULTS, **{name: value for name, value in parameters.items() if value is not None}}
    return Address(
        merged,
        _shown(merged),
        pool=int(_number("pool", ours.get("pool", "20"), least=1)),
        wait=_number("wait", ours.get("wait", "30"), least=0),
        reads=_one_of("reads", ours.get("reads", _READS[0]), _READS),
    )


def _one_of(name: str, text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise InvalidInput(f"{name}={text[:20]} in the address: it takes {' or '.join(known)}")
    return text


def _number(name: str, text: str, least: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= _MOST:
        raise InvalidInput(f"{name}={text[:20]} in the address: it takes a number from {least}")
    return value


def _shown(parameters: Mapping[str, str | int]) -> str:
    hosts = str(parameters.get("host") or parameters.get("hostaddr") or "localhost").split(",")
    ports = str(parameters.get("port") or "").split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    places = ",".join(f"{host}:{port}" if port else host for host, port in zip(hosts, ports, strict=False))
    who = f"{parameters['user']}@" if parameters.get("user") else ""
    return f"postgresql://{who}{places}/{parameters.get('dbname') or ''}"
