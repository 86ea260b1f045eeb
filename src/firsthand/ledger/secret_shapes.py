"""Secrets that show by their own shape: tokens, keys, web addresses with a password, card numbers.

Every pattern's repeats are bounded or possessive, and no run is begun in its middle, so that the time taken grows
with the length of the text and nothing else. Secrets that only the words before them give away are in
`secret_words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

MARK = "[masked: "

API_KEY = "api key"
TOKEN = "token"  # noqa: S105 - the name of a kind of secret
PASSWORD = "password"  # noqa: S105 - the name of a kind of secret
PRIVATE_KEY = "private key"
CARD = "card number"
PIN = "pin"
PHRASE = "passphrase"
CODE = "code"
ACCOUNT = "account number"
_KINDS = f"{API_KEY}|{TOKEN}|{PASSWORD}|{PRIVATE_KEY}|{CARD}|{PIN}|{PHRASE}|{CODE}|{ACCOUNT}"
MARKED = re.compile(rf"{re.escape(MARK)}(?:{_KINDS})\]")


class Found(NamedTuple):
    """A secret's place in a text, and what kind of secret it is."""

    start: int
    end: int
    kind: str


# -- what secrets of both kinds are told by ----------------------------------------------------------------------

# What stands where a secret would: stars, ${VARIABLES}, <your password>, a name in code.
_EMPTY = re.compile(
    r"[*•_.\-#?…]+|x{3,}|<[^>]*>?|\[[^\]]*\]?|\{+[\w. -]*\}*|\\?\$\{.*"
    r"|\\?\$[a-z_]+|(?-i:\\?\$[A-Z_][A-Z0-9_]*)|\$\(.*|%[sdr]|%\(\w+\)s|%\w+%"
    r"|(?:your|enter|insert)[-_].*|null|none|nil|true|false|undefined",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[].*|[A-Za-z_]+(?:\.[A-Za-z_]+)+", re.DOTALL)


def is_placeholder(value: str, *, quoted: bool = False) -> bool:
    """Whether it stands in for a secret. A name or a call in code does so only where no quotes are around it."""
    return _EMPTY.fullmatch(value) is not None or (not quoted and _CODE.fullmatch(value) is not None)


def is_mixed(token: str) -> bool:
    """Whether letters and digits stand together, as in tokens and hardly ever in words."""
    return any(char.isdigit() for char in token) and any(char.isalpha() for char in token)


def hinted(text: str, hints: Sequence[str]) -> bool:
    """Whether a closer look may find anything. Most talk has no hint of a secret, and this is far quicker to see."""
    for hint in hints:  # noqa: SIM110 - every message comes by here, and `any` takes twice as long
        if hint in text:
            return True
    return False


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match that begins at a place ends; the place itself when there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at


# -- tokens and headers -------------------------------------------------------------------------------------------

# A token begins where no letter, digit or underscore stands before it.
_EDGE = r"(?<![A-Za-z0-9_])"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        API_KEY,
        re.compile(
            _EDGE + r"(?:"
            r"sk-[A-Za-z0-9_-]{8,}+"  # OpenAI, Anthropic and those that followed them
            r"|(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{10,}+"  # Stripe
            r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
            r"|AIza[A-Za-z0-9_-]{30,}+"  # Google
            r"|SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{16,}+"  # SendGrid
            r"|(?:gsk|xai|pplx|r8|nvapi|lin_api|re)[_-][A-Za-z0-9_-]{20,}+"
            r"|key-[0-9a-f]{32}(?![0-9a-f])"  # Mailgun
            r"|AGE-SECRET-KEY-1[A-Z0-9]{40,}+"
            r")"
        ),
    ),
    (
        TOKEN,
        re.compile(
            _EDGE + r"(?:"
            r"gh[pousr]_[A-Za-z0-9]{16,}+|github_pat_[A-Za-z0-9_]{20,}+|gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{16,}+"
            r"|xox[abeoprs]-[A-Za-z0-9-]{8,}+|xapp-[A-Za-z0-9-]{10,}+"  # Slack
            r"|npm_[A-Za-z0-9]{30,}+|pypi-[A-Za-z0-9_-]{30,}+|hf_[A-Za-z0-9]{20,}+|do[opr]_v1_[a-f0-9]{40,}+"
            r"|ya29\.[A-Za-z0-9_-]{20,}+|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,}+|hv[sbr]\.[A-Za-z0-9_-]{20,}+"
            r"|tskey-[A-Za-z0-9-]{16,}+|dapi[0-9a-f]{32}(?![0-9a-f])|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}+"
            r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}+"  # Telegram bots
            r")"
        ),
    ),
    # A JSON Web Token. Its edge takes in the hyphen: the run behind "eyJ" is then read only once.
    (
        TOKEN,
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}"),
    ),
)
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{16,}+)"
    r"|discord(?:app)?\.com/api/webhooks/([0-9]{10,25}/[A-Za-z0-9_-]{20,}+)"
)
_BEARER = re.compile(r"\b[Bb](?:earer|EARER)[ \t]{1,4}([A-Za-z0-9._~+/=-]{12,}+)")
_BASIC = re.compile(
    r"\b[Aa](?:uthorization|UTHORIZATION)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
    r"(?:[Bb]asic|[Tt]oken|[Aa]pi[Kk]ey)[ \t]{1,4}([^\s\"',;]{6,}+)"
)
_CURL = re.compile(
    r"\b(?:curl|https?|wget)\b[^\n]{0,200}?[ \t](?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{1,64}:([^\s\"']{3,}+)"
)
# The password of a connection string ends at the last @ before the host.
_ADDRESS = re.compile(r"://[^\s:/@\"'<>]{0,128}:([^\s/\"'<>]{1,256})@(?=[\w\[{$<%])")
# Databases' passwords hold slashes as well, and no path stands in front of their host.
_DATABASE = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|srv|rediss?|amqps?|mssql|psycopg2?|ftp|sftp|smtps?|ldaps?)"
    r"://[^\s:/@\"'<>]{1,128}:(?!\d{1,5}/)([^\s\"'<>@]{1,256})@(?=[\w\[{$<%])"
)


_DIGIT = re.compile(r"[0-9]")
_CAPITALS = ("AKIA", "ASIA", "ABIA", "ACCA", "SG.")  # of keys that need no digits
_TOKEN_HINTS = (  # noqa: SIM905 - read and changed as words
    "sk- sk_ rk_ whsec_ AKIA ASIA ABIA ACCA AIza SG. gsk_ gsk- xai- xai_ pplx r8_ r8- nvapi lin_api re_ re- key- AGE-"
    " ghp_ gho_ ghu_ ghs_ ghr_ github_pat glpat gldt glrt glcbt glptt xox xapp- npm_ pypi- hf_ _v1_ ya29. shp hvs. hvr."
    " hvb. tskey- dapi sq0 :AA eyJ"
).split()
_WORD_HINTS = ("://", "earer", "EARER", "uthorization", "UTHORIZATION", "hooks", "-----")
_HEADER_HINTS = ("://", "earer", "EARER", "uthorization", "UTHORIZATION", "-u", "hooks")


def tokens(text: str) -> Iterator[Found]:
    """Keys and tokens with a prefix that their maker gave them, and JSON Web Tokens."""
    hints = _TOKEN_HINTS if _DIGIT.search(text) else _CAPITALS  # without a digit a token is none
    if not hinted(text, hints):
        return
    for kind, pattern in _SHAPES:
        for found in pattern.finditer(text):
            # Long names with hyphens ("re-establish-the-connection") have no digits; keys of AWS need none.
            if is_mixed(found[0]) or found[0].isupper():
                yield Found(found.start(), found.end(), kind)


def headers(text: str) -> Iterator[Found]:
    """What stands in request headers, in web addresses and in calls of curl."""
    if not hinted(text, _HEADER_HINTS):
        return
    for found in _BEARER.finditer(text):
        if is_mixed(found[1]):
            yield Found(found.start(1), found.end(1), TOKEN)
    for pattern, kind in ((_BASIC, TOKEN), (_CURL, PASSWORD), (_ADDRESS, PASSWORD), (_DATABASE, PASSWORD)):
        for found in pattern.finditer(text):
            if not is_placeholder(found[1], quoted=True):
                yield Found(found.start(1), found.end(1), kind)
    for found in _HOOK.finditer(text):
        group = 1 if found[1] else 2
        yield Found(found.start(group), found.end(group), TOKEN)


def shows(word: str) -> bool:
    """Whether what stands between two blanks may be part of a secret that shows by itself, but for a card's number."""
    return (
        hinted(word, _TOKEN_HINTS)
        or hinted(word, _WORD_HINTS)
        or word.startswith(("-u", "--user"))
        or _IBAN_OPEN.search(word) is not None
    )


_PEM_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_CLOSE = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES = re.compile(r"(?:(?:\s|\\n|\\r)*+[A-Za-z0-9+/=]{24,}+)*+")
_LONGEST_PEM = 20_000  # characters between the lines of a key; the longest keys in use have some 13,000


def private_keys(text: str) -> Iterator[Found]:
    """Private keys in PEM, whole or cut off. Certificates and public keys stay."""
    if "PRIVATE KEY" not in text:
        return
    at = 0
    while opened := _PEM_OPEN.search(text, at):
        closed = _PEM_CLOSE.search(text, opened.end(), opened.end() + _LONGEST_PEM)
        # A key that was cut off has no last line: its long lines go, the prose behind them stays.
        at = closed.end() if closed else end_of(_PEM_LINES, text, opened.end())
        if at > opened.end():  # else only its first line is spoken of
            yield Found(opened.start(), at, PRIVATE_KEY)


# -- card numbers ------------------------------------------------------------------------------------------------

_DIGITS = re.compile(r"\d++(?:[\s.–-]{1,2}\d++)*+")  # noqa: RUF001 - dashes of both kinds
_GROUP = re.compile(r"\d++")
# How issuers print their numbers; also all digits in a row.
_PRINTED: Mapping[int, tuple[tuple[int, ...], ...]] = {  # by the length of the first group
    4: ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4)),
    **{length: ((length,),) for length in range(14, 20)},
}
_SHORTEST_CARD = 14
_MOST_GROUPS = 5


class _Issuer(NamedTuple):
    low: int
    high: int
    lengths: tuple[int, ...]


# By the first six digits. Thirteen digits of Visa are left out: they were given up, and product codes look like them.
_ISSUERS = (
    _Issuer(400000, 499999, (16,)),
    _Issuer(510000, 559999, (16,)),
    _Issuer(222100, 272099, (16,)),
    _Issuer(340000, 349999, (15,)),
    _Issuer(370000, 379999, (15,)),
    _Issuer(601100, 601199, (16, 19)),
    _Issuer(644000, 659999, (16, 19)),
    _Issuer(352800, 358999, (16, 17, 18, 19)),
    _Issuer(300000, 305999, (14, 16)),
    _Issuer(360000, 369999, (14,)),
    _Issuer(380000, 399999, (14, 16)),
    _Issuer(620000, 629999, (16, 17, 18, 19)),
    _Issuer(220000, 220499, (16,)),
    _Issuer(506000, 509999, (16, 19)),
)


def cards(text: str) -> Iterator[Found]:
    """Numbers that an issuer of cards could have given out: a known beginning, its length, a valid check digit."""
    for run in _DIGITS.finditer(text) if _DIGIT.search(text) or not text.isascii() else ():
        if run.end() - run.start() >= _SHORTEST_CARD:
            yield from _cards_in(run)


def _cards_in(run: re.Match[str]) -> Iterator[Found]:
    """Card numbers among the groups of a run of digits; the groups beside them may be a date and a check code."""
    groups = [(run.start() + g.start(), run.start() + g.end()) for g in _GROUP.finditer(run[0])]
    at = 0
    while at < len(groups):
        start, end = groups[at]
        near = groups[at : at + _MOST_GROUPS]
        size = next((len(p) for p in _PRINTED.get(end - start, ()) if _is_card_at(run.string, near, p)), 0)
        if size:
            yield Found(start, groups[at + size - 1][1], CARD)
        at += size or 1


def _is_card_at(text: str, groups: Sequence[tuple[int, int]], printed: tuple[int, ...]) -> bool:
    group = groups[: len(printed)]
    if tuple(end - start for start, end in group) != printed:
        return False
    between = {text[end:start] for (_, end), (start, _) in pairwise(group)}
    alone = _stands_alone(text, group[0][0], group[-1][1])
    return len(between) <= 1 and alone and _is_card("".join(text[start:end] for start, end in group))


_BEFORE = re.compile(r"[A-Za-z_]$|\d\.$")
_BEHIND = re.compile(r"[A-Za-z_]|\.\d")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter stands right beside the digits, and they are no decimal places."""
    return _BEFORE.search(text[max(0, start - 2) : start]) is None and _BEHIND.match(text, end) is None


def _is_card(number: str) -> bool:
    issued = int(number[:6])
    known = any(i.low <= issued <= i.high and len(number) in i.lengths for i in _ISSUERS)
    return known and _checksum(number) == 0


def _checksum(number: str) -> int:
    """The remainder that Luhn's rule leaves; 0 for a valid number."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)  # noqa: PLR2004 - the sum of two digits
    return total % 10


# -- bank accounts -----------------------------------------------------------------------------------------------

# How many characters an IBAN has, by country. Source: the IBAN registry of SWIFT (ISO 13616).
_IBAN_COUNTRIES = """
    15:NO 16:BE 18:DK,FO,FI,GL,NL,FK,SD 19:MK,SI 20:AT,BA,EE,KZ,LT,LU,XK,MN 21:CH,HR,LI,LV
    22:BG,BH,CR,DE,GB,GE,IE,ME,RS,VA 23:AE,GI,IL,IQ,TL,OM,SO 24:AD,CZ,ES,MD,PK,RO,SA,SE,SK,TN,VG
    25:LY,PT,ST 26:IS,TR 27:BI,DJ,FR,GR,IT,MC,MR,SM 28:AL,AZ,BY,CY,DO,GT,HU,LB,NI,PL,SV 29:BR,EG,PS,QA,UA
    30:JO,KW,MU 31:MT,SC 32:LC 33:RU
"""
_IBAN_LENGTHS = {
    country: int(length)
    for length, _, countries in (each.partition(":") for each in _IBAN_COUNTRIES.split())
    for country in countries.split(",")
}
_IBAN_OPEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[A-Za-z0-9]{11,29}+|(?:[ \u00a0-][A-Za-z0-9]{1,4}){3,8})")
_IBAN_GROUP = 4


def ibans(text: str) -> Iterator[Found]:
    """Numbers of bank accounts (IBAN): a country's length, in one piece or in fours, and a valid checksum."""
    if not _DIGIT.search(text):
        return
    at = 0
    while found := _IBAN.search(text, at):
        end = _iban_end(found)
        if end:
            yield Found(found.start(), end, ACCOUNT)
        at = end or found.start() + _IBAN_GROUP


def _iban_end(found: re.Match[str]) -> int:
    """Where the account's number ends; 0 where there is none. What follows it may look like another group."""
    text, start = found.string, found.start()
    wanted = _IBAN_LENGTHS.get(found[0][:2].upper(), 0)
    if not wanted:
        return 0
    grouped = not found[0][_IBAN_GROUP].isalnum()
    end = start + wanted + ((wanted - 1) // _IBAN_GROUP if grouped else 0)
    printed = text[start:end]
    number = "".join(char for char in printed if char.isalnum()).upper()
    whole = len(number) == wanted and not text[end : end + 1].isalnum() and end <= found.end()
    return end if whole and _remainder(number) == 1 else 0


def _remainder(iban: str) -> int:
    """What the rule of ISO 7064 (mod 97-10) leaves; 1 for a valid number."""
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 if iban.isascii() else 0
