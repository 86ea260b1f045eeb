"""Masking: keys, tokens, card numbers and passwords are taken out of a text before anything is written.

Holds what a secret looks like, by its own shape (`ghp_…`, a valid card number) or by what stands before it ("my
password is …"). What is masked is gone: only the kind of thing stays, as in "[masked: api key]". Prose, UUIDs, phone
and order numbers and commit hashes stay. What a claim about a credential may do is in `admission.py`.

Every pattern's repeats are bounded or possessive, and each search goes on behind what it looked at, so that the time
taken grows with the length of the text and nothing else.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from firsthand.errors import InvalidInput

MARK = "[masked: "
DEEPEST = 100  # levels of nested JSON; nothing that people send comes near

_API_KEY = "api key"
_TOKEN = "token"  # noqa: S105 - the name of a kind of secret
_PASSWORD = "password"  # noqa: S105 - the name of a kind of secret
_PRIVATE_KEY = "private key"
_CARD = "card number"
_PIN = "pin"
_PHRASE = "passphrase"


class Found(NamedTuple):
    """A secret's place in a text, and what kind of secret it is."""

    start: int
    end: int
    kind: str


def mask(text: str) -> tuple[str, int]:
    """The text with every secret replaced by its kind in brackets, and how many there were. Masking twice changes nothing."""
    found = _apart(sorted(span for find in _FINDERS for span in find(text)))
    if not found:
        return text, 0
    parts, at = [], 0
    for span in found:
        parts += [text[at : span.start], f"{MARK}{span.kind}]"]
        at = span.end
    return "".join([*parts, text[at:]]), len(found)


def mask_json(value: Any) -> tuple[Any, int]:
    """Plain JSON with every text in it masked, keys included; keys tell what stands under them ({"password": …}).

    Raises InvalidInput when it is nested deeper than `DEEPEST`.
    """
    return _masked(value, "", DEEPEST)


def _apart(spans: Sequence[Found]) -> list[Found]:
    """The spans without those that overlap an earlier one; the earlier one then covers both."""
    apart: list[Found] = []
    for span in spans:
        if apart and span.start < apart[-1].end:
            first = apart[-1]
            apart[-1] = Found(first.start, max(first.end, span.end), first.kind)
        else:
            apart.append(span)
    return apart


# -- JSON --------------------------------------------------------------------------------------------------------


def _masked(value: Any, label: str, depth: int) -> tuple[Any, int]:
    if depth < 0:
        raise InvalidInput(f"nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        return _masked_text(value, label)
    if isinstance(value, Mapping):
        return _masked_object(value, label, depth)
    if isinstance(value, (list, tuple)):
        return _masked_list(value, label, depth)
    if isinstance(value, int) and not isinstance(value, bool):
        text, count = _masked_text(str(value), label)
        return (text, count) if count else (value, 0)
    return value, 0


def _masked_text(value: str, label: str) -> tuple[str, int]:
    text, count = mask(value)
    if count or not label:
        return text, count
    kind = _kind_named(label, value)
    return (f"{MARK}{kind}]", 1) if kind else (text, 0)


def _masked_object(value: Mapping[Any, Any], label: str, depth: int) -> tuple[dict[Any, Any], int]:
    out: dict[Any, Any] = {}
    total = 0
    named = _entry_name(value)
    for key, each in value.items():
        name, in_name = mask(key) if isinstance(key, str) else (key, 0)
        hint = named if named and key == "value" else (str(key) if _names_secret(str(key)) else label)
        out_value, in_value = _masked(each, hint, depth - 1)
        while name in out:  # two secrets used as keys are masked alike
            name = f"{name}'"
        out[name] = out_value
        total += in_name + in_value
    return out, total


def _entry_name(value: Mapping[Any, Any]) -> str:
    """The name in {"name": "DB_PASSWORD", "value": …}, the way environments and forms are written as JSON."""
    for key in ("name", "key"):
        name = value.get(key)
        if isinstance(name, str) and "value" in value and _names_secret(name):
            return name
    return ""


def _masked_list(value: Sequence[Any], label: str, depth: int) -> tuple[list[Any], int]:
    out, total = [], 0
    before: Any = None
    for each in value:
        flagged = isinstance(before, str) and before.startswith("--") and _names_secret(before)
        masked, count = _masked(each, before if flagged else label, depth - 1)
        out.append(masked)
        total += count
        before = each
    return out, total


def _names_secret(label: str) -> bool:
    return len(label) <= _LONGEST_LABEL and _KEYWORD.search(_spread(label)) is not None


def _spread(label: str) -> str:
    """A key as words are looked for: "dbPassword" is two words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", label)


def _kind_named(label: str, value: str) -> str | None:
    """The kind of secret that a value is under this key; None when it is none."""
    found = _KEYWORD.search(_spread(label))
    if found is None or len(value) > _LONGEST_VALUE:
        return None
    family = _family(found)
    return family.kind if family.accepts(value, ":") else None


# -- by their own shape ------------------------------------------------------------------------------------------

# A token begins where no letter, digit or underscore stands before it.
_EDGE = r"(?<![A-Za-z0-9_])"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        _API_KEY,
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
        _TOKEN,
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
        _TOKEN,
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}"),
    ),
)
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{16,}+)|discord(?:app)?\.com/api/webhooks/([0-9]{10,25}/[A-Za-z0-9_-]{20,}+)"
)
_BEARER = re.compile(r"\b[Bb](?:earer|EARER)[ \t]{1,4}([A-Za-z0-9._~+/=-]{12,}+)")
_BASIC = re.compile(
    r"\b[Aa](?:uthorization|UTHORIZATION)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:[Bb]asic|[Tt]oken|[Aa]pi[Kk]ey)[ \t]{1,4}([^\s\"',;]{6,}+)"
)
_CURL = re.compile(r"(?<!\S)(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{1,64}:([^\s\"']{3,}+)")
# The password of a connection string ends at the last @ before the host.
_ADDRESS = re.compile(r"://[^\s:/@\"'<>]{0,128}:([^\s/\"'<>]{1,256})@(?=[\w\[])")


_SHAPE_HINTS = (
    *(
        "sk-",
        "sk_",
        "rk_",
        "whsec_",
        "AKIA",
        "ASIA",
        "ABIA",
        "ACCA",
        "AIza",
        "SG.",
        "gsk_",
        "gsk-",
        "xai-",
        "xai_",
        "pplx",
    ),
    *(
        "r8_",
        "r8-",
        "nvapi",
        "lin_api",
        "re_",
        "re-",
        "key-",
        "AGE-",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat",
    ),
    *(
        "glpat",
        "gldt",
        "glrt",
        "glcbt",
        "glptt",
        "xox",
        "xapp-",
        "npm_",
        "pypi-",
        "hf_",
        "_v1_",
        "ya29.",
        "shp",
        "hvs.",
    ),
    *("hvr.", "hvb.", "tskey-", "dapi", "sq0", ":AA", "eyJ"),
)
_HEADER_HINTS = ("://", "earer", "EARER", "uthorization", "UTHORIZATION", "-u", "hooks")


def _hinted(text: str, hints: Sequence[str]) -> bool:
    """Whether a closer look may find anything. Most talk has no hint of a secret, and this is far quicker to see."""
    return any(hint in text for hint in hints)


def _shaped(text: str) -> Iterator[Found]:
    if not _hinted(text, _SHAPE_HINTS):
        return
    for kind, pattern in _SHAPES:
        for found in pattern.finditer(text):
            if kind == _TOKEN or not found[0].startswith("sk-") or _mixed(found[0][3:]):
                yield Found(found.start(), found.end(), kind)


def _headers(text: str) -> Iterator[Found]:
    if not _hinted(text, _HEADER_HINTS):
        return
    for found in _BEARER.finditer(text):
        if _mixed(found[1]):
            yield Found(found.start(1), found.end(1), _TOKEN)
    for pattern, kind in ((_BASIC, _TOKEN), (_CURL, _PASSWORD), (_ADDRESS, _PASSWORD)):
        for found in pattern.finditer(text):
            if not _placeholder(found[1]):
                yield Found(found.start(1), found.end(1), kind)
    for found in _HOOK.finditer(text):
        group = 1 if found[1] else 2
        yield Found(found.start(group), found.end(group), _TOKEN)


def _mixed(token: str) -> bool:
    """Whether letters and digits stand together, as in tokens and hardly ever in words."""
    return any(char.isdigit() for char in token) and any(char.isalpha() for char in token)


_PEM_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_CLOSE = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES = re.compile(r"(?:(?:\s|\\n|\\r)*+[A-Za-z0-9+/=]{24,}+)*+")
_LONGEST_PEM = 20_000  # characters between the lines of a key; the longest keys in use have some 13,000


def _pem(text: str) -> Iterator[Found]:
    at = 0
    while opened := _PEM_OPEN.search(text, at):
        closed = _PEM_CLOSE.search(text, opened.end(), opened.end() + _LONGEST_PEM)
        # A key that was cut off has no last line: its long lines go, the prose behind them stays.
        at = closed.end() if closed else _end_of(_PEM_LINES, text, opened.end())
        yield Found(opened.start(), at, _PRIVATE_KEY)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


# -- card numbers ------------------------------------------------------------------------------------------------

_DIGITS = re.compile(r"(?<![A-Za-z0-9_])(?<![0-9][.,])[0-9]++(?:[ \u00a0-][0-9]++)*+(?![A-Za-z_])(?![.,][0-9])")
_GROUP = re.compile(r"[0-9]++")
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


def _cards(text: str) -> Iterator[Found]:
    for run in _DIGITS.finditer(text if text.isascii() else _with_ascii_digits(text)):
        if run.end() - run.start() >= _SHORTEST_CARD:
            yield from _cards_in(run)


_WIDE_DIGITS = {0xFF10 + digit: ord("0") + digit for digit in range(10)}


def _with_ascii_digits(text: str) -> str:
    return text.translate(_WIDE_DIGITS)


def _cards_in(run: re.Match[str]) -> Iterator[Found]:
    """Card numbers among the groups of a run of digits; the groups beside them may be a date and a check code."""
    groups = [(run.start() + g.start(), run.start() + g.end()) for g in _GROUP.finditer(run[0])]
    at = 0
    while at < len(groups):
        start, end = groups[at]
        size = next(
            (len(p) for p in _PRINTED.get(end - start, ()) if _card_at(run.string, groups[at : at + _MOST_GROUPS], p)),
            0,
        )
        if size:
            yield Found(start, groups[at + size - 1][1], _CARD)
        at += size or 1


def _card_at(text: str, groups: Sequence[tuple[int, int]], printed: tuple[int, ...]) -> bool:
    group = groups[: len(printed)]
    fits = tuple(end - start for start, end in group) == printed
    return fits and _is_card("".join(text[start:end] for start, end in group))


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


# -- said aloud, or assigned -------------------------------------------------------------------------------------

_LONGEST_LABEL = 80
_LONGEST_VALUE = 256
_KEYWORD = re.compile(
    r"(?<![A-Za-z0-9])(?:"  # an underscore may stand before it: DB_PASSWORD
    r"(?P<password>(?i:passwords?|passwd|passcode|pwd|pw|passwort|kennwort|contrase[nñ]a|mot de passe|senha"
    r"|wachtwoord|has[lł]o|[sş]ifre|l[oö]senord|adgangskode|salasana))(?![A-Za-z])"
    r"|(?P<phrase>(?i:pass ?phrase|(?:seed|recovery|secret|mnemonic) phrase|seed words))(?![A-Za-z])"
    r"|(?P<pass>(?i:pass))(?=[ \t]{0,2}[:=])"
    r"|(?P<pin>(?i:pin(?:[ -]?(?:code|number|nummer))?|cvv2?|cvc2?|otp|(?:2fa|one[ -]time|verification|security) code))"
    r"(?![A-Za-z])"
    r"|(?P<key>(?i:(?:api|access|secret|auth|account|signing|encryption|license|licence|client|service|master|app)"
    r"[_ -]?key|apikey|(?:api|access|auth|refresh|bearer|bot|session|id|csrf|oauth|personal access|deploy|security)"
    r"[_ -]?token|client[_ -]?secret|secret[_ -]?access[_ -]?key|app[_ -]?secret|shared[_ -]?secret|secret|token"
    r"|api[_ -]?schlüssel|cl[eé] api|clave (?:de )?api|chave (?:de )?api))(?![A-Za-z])"
    r")"
    r"|(?P<foreign>пароль|пароля|密码|密碼|口令|パスワード|비밀번호|סיסמה|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|รหัสผ่าน)"
)
# Every word above has one of these in it, once case is folded.
_SPOKEN_HINTS = (
    *("pass", "pw", "kennwort", "contrase", "senha", "wachtwoord", "haslo", "hasło", "sifre", "şifre", "senord"),
    *("adgangskode", "salasana", "phrase", "seed words", "pin", "cvv", "cvc", "otp", " code", "key", "token", "secret"),
    *(
        "schlüssel",
        "cle api",
        "clé api",
        "clave",
        "chave",
        "парол",
        "密码",
        "密碼",
        "口令",
        "パスワード",
        "비밀번호",
        "סיסמה",
    ),
    *("كلمة", "पासवर्ड", "mật khẩu", "รหัสผ่าน"),
)
# "the password for the wifi", "password to prod": what it opens, before the word that says what it is.
_OPENS = re.compile(
    r"[ \t]{1,3}(?i:for|to|of|on|für|zu|para|pour|de|для|от)[ \t][^\n.,:;=!?\"'`\[\]]{1,40}?(?=[ \t]{0,3}(?:[:=：]|(?i:is|was|ist|es|est|это)[ \t]))"
)
_LINK = re.compile(
    r"(?:\\{0,3}[\"'`])?[ \t\u00a0]{0,4}"
    r"(?P<link>:=|=>|->|==?|[:：＝]|→"
    r"|(?i:is|are|was|ist|est|es|é|è|eh|это|to|auf|à|a|на)(?=[ \t])"
    r"|['’]s(?=[ \t])|是|为|為|は|[은는이가])"
    r"(?:[ \t]{1,3}(?i:still|now|currently|actually|always|just|simply|set to|jetzt|ahora|maintenant|сейчас)(?=[ \t]))?"
    r"[ \t\u00a0]{0,4}"
)
_FLAG = re.compile(r"[ \t=]{1,3}")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»", "「": "」", "‘": "’", "『": "』"}
_QUOTED = re.compile(
    "|".join(rf"\\{{0,3}}{re.escape(a)}([^\n{re.escape(a)}{re.escape(b)}\\]{{1,256}})" for a, b in _QUOTES.items())
)
# A bare value ends at a blank, at a quote, and where Chinese or Japanese text goes on.
_BARE = re.compile(r"[^\s\"'`“”„«»「」『』<>，。、；：！？\u3040-\u30ff\u3400-\u9fff]{1,256}")
_REST = re.compile(r"[^\s\"'`“”„«»「」『』<>，。、；：！？\u3040-\u30ff\u3400-\u9fff]*+")
_PUNCTUATION = ".,;:!?)]}…"
_WORDS = re.compile(r"[a-z]{2,20}(?:[ \t][a-z]{2,20}){2,30}(?=[ \t]{0,2}(?:[.,;!?\n\"']|$))")
_USED = re.compile(r"(?i:(?:with|using|use|via|mit|con|avec)(?: the| my| this| password)?[ \t])$")
_SETS = re.compile(
    r"(?i:\b(?:set|sets|setting|chang\w{1,3}|reset|resetting|updat\w{1,3}|made|make|switch\w{0,3}|rotat\w{1,3})\b)"
)
_LOOKS_BACK = 40

# Words that follow "the password is" in ordinary talk. A password that is one of them stays, and says little.
_ORDINARY = frozenset(
    "a about above accepted actually again all allowed almost also always an and another any anything as at auth"
    " authentication available bad based because been before being best better between bool boolean both bytes but by"
    " case case-sensitive char changed changing clear compromised configurable configured copied correct correctly"
    " crucial currently default different difficult disabled due easy either eight empty enabled encoded encrypted"
    " enough entered even exactly expired expiring false fine five fixed for forbidden forgotten four from generated"
    " going gone good great guessable half handled hard hashed her here hidden his hopefully how i if important"
    " impossible in incorrect insecure inside int integer invalid is it its just kept known leaked less like linked"
    " locked long longer lost made mandatory managed masked missing more most much must my needed never new nil no none"
    " not nothing null number okay ok old on one only optional or our out outdated over perhaps plain possible present"
    " private probably protected public quite random rather really recorded redacted rejected required reset reused"
    " right rotated safe same saved secure secured sent sensitive set seven shared short shorter six so some somebody"
    " someone something somewhere still stored str string strong stronger temporary ten text that the their them then"
    " there these they this those three to today too tomorrow true two typed unchanged undefined under unique unknown"
    " unset unsafe until up updated use used user using valid very via visible was we weak weaker well what when where"
    " which who whole why with without working written wrong yes yet you your yours"
    " falsch richtig nicht zu ein eine der die das abgelaufen vergessen leer incorrecta incorrecto olvidada demasiado"
    " trop oublié oubliée incorrect invalide errata sbagliata errada неверный неправильный забыл".split()
)
_FUNCTION_WORDS = frozenset(
    "a an the is are was it not in to of too by for on at and or that this stored kept written with my your our if when"
    " must should can will be has have you i we they than so very".split()
)
_ALGORITHMS = re.compile(
    r"(?i)(?:oauth|sha|md|aes|rsa|bcrypt|scrypt|argon|pbkdf|v|utf|base|http|tls|ssl|pkcs|ed|saml|fido|level|step|rule"
    r"|section|page|line|type|part|version|1password|keepass)[-_ ]?\d[\w.-]{0,12}"
)
_PLACEHOLDER = re.compile(
    r"[*•_.\-#?…]+|x{3,}|[<\[{(%$].*|\\?\$.*|.*\(.*|(?:your|my|the|some|enter|insert|example)[-_].*"
    r"|[A-Za-z_]+(?:\.[A-Za-z_]+)+(?:[\[(].*)?|[A-Za-z_]+\[.*|null|none|nil|true|false|undefined",
    re.IGNORECASE | re.DOTALL,
)
_RANGE = re.compile(r"[\d.,–—+/%-]*")
_FEWEST_DIGITS = 4


class _Family(NamedTuple):
    """A family of words that announce a secret, and what may follow them as one."""

    kind: str
    accepts: Callable[[str, str], bool]  # (value, link) -> whether it is a secret


def _spoken(text: str) -> Iterator[Found]:
    """Secrets that a word announces. The search goes on behind each value, so nothing is read twice."""
    if not _hinted(text.casefold(), _SPOKEN_HINTS):
        return
    at = 0
    while word := _KEYWORD.search(text, at):
        at = word.end()
        found = _announced(text, word)
        if found is not None:
            at = max(at, found.end)
            yield found


def _announced(text: str, word: re.Match[str]) -> Found | None:
    if _marks(text, word):
        return None
    if word.lastgroup == "phrase":
        return _passphrase(text, word)
    family = _family(word)
    link, at = _link(text, word)
    if link is None:
        return None
    start, end = _value_at(text, at)
    value = text[start:end]
    quoted = start > at
    if not value or not (family.accepts(value, '"' if quoted and link != "to" else link)):
        return None
    return Found(start, end if quoted else _whole(text, start, end), family.kind)


def _marks(text: str, word: re.Match[str]) -> bool:
    """Whether the word stands in a mark that an earlier masking left."""
    return text.startswith(MARK, max(0, word.start() - len(MARK))) and text[word.end() : word.end() + 1] == "]"


def _link(text: str, word: re.Match[str]) -> tuple[str | None, int]:
    """What ties the word to the value behind it, and where the value begins; None when nothing does."""
    opens = _OPENS.match(text, word.end())
    tied = _LINK.match(text, opens.end() if opens else word.end())
    before = text[max(0, word.start() - _LOOKS_BACK) : word.start()]
    if tied is not None:
        link = tied["link"].casefold()
        if link in ("to", "auf", "à", "a", "на"):
            link = "set" if _SETS.search(before) else "to"
        return link, tied.end()
    flag = _FLAG.match(text, word.end())
    if flag is not None and before.endswith("--"):
        return ":", flag.end()
    if flag is not None and (_USED.search(before) or word.lastgroup in ("password", "foreign")):
        return "with", flag.end()
    return None, word.end()


def _value_at(text: str, at: int) -> tuple[int, int]:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        group = quoted.lastindex or 0
        return quoted.start(group), quoted.end(group)
    bare = _BARE.match(text, at)
    if bare is None:
        return at, at
    return at, at + len(bare[0].rstrip(_PUNCTUATION))


def _whole(text: str, start: int, end: int) -> int:
    """Where a bare value ends that is longer than what was looked at."""
    return _end_of(_REST, text, end) if end - start >= _LONGEST_VALUE - len(_PUNCTUATION) else end


def _passphrase(text: str, word: re.Match[str]) -> Found | None:
    """A phrase of plain words that holds no sentence: "correct horse battery staple"."""
    link, at = _link(text, word)
    if link is None or link in ("to", "with"):
        return None
    start, end = _value_at(text, at)
    if start > at:
        return Found(start, end, _PHRASE)
    words = _WORDS.match(text, at)
    if words is not None:
        said = not _FUNCTION_WORDS.intersection(words[0].split())
        return Found(words.start(), words.end(), _PHRASE) if said else None
    value = text[start:end]
    return Found(start, end, _PHRASE) if value and _is_password(value, link) else None


def _is_password(value: str, link: str) -> bool:
    if _placeholder(value) or not any(char.isalnum() for char in value):
        return False
    if link in ("is", "are", "was", ":", "=", "set", ":=", "=>", "->", "→", "：", "＝", '"') and not _is_prose(value):
        return True
    return _is_strong(value) and not (link == "with" and (_ALGORITHMS.fullmatch(value) or len(value) < 6))  # noqa: PLR2004


def _is_prose(value: str) -> bool:
    """Whether a word that follows "password is" is part of a sentence, or a figure."""
    if _RANGE.fullmatch(value):
        return sum(char.isdigit() for char in value) < _FEWEST_DIGITS
    word = value.casefold()
    last = word.rsplit("-", 1)[-1]
    if word in _ORDINARY or last in _ORDINARY or value.startswith(("/", "~/", "./")):
        return True
    return word.isalpha() and word.endswith(("ed", "ing", "able", "ly"))


def _is_strong(value: str) -> bool:
    """Whether a word looks made up: letters with digits or signs, capitals inside, or a row of digits."""
    if value.isdigit():
        return len(value) >= _FEWEST_DIGITS
    if not any(char.isalpha() for char in value) or len(value) < _FEWEST_DIGITS:
        return False
    if value.startswith(("/", "~/", "./", "http")) or _RANGE.fullmatch(value) or _is_prose(value):
        return False
    inside = value[1:]
    capitals = value.isalnum() and any(char.isupper() for char in inside) and not value.isupper()
    return any(char.isdigit() for char in value) or any(char in "!@#$%^&*+=?~|\\" for char in value) or capitals


def _is_pass(value: str, link: str) -> bool:
    return link in (":", "=", '"') and not _placeholder(value) and _is_strong(value) and _mixed(value)


def _is_pin(value: str, link: str) -> bool:
    return link not in ("with", "to") and re.fullmatch(r"[0-9]{3,8}", value) is not None


def _is_key(value: str, link: str) -> bool:
    """Whether an assigned value is random enough to be a key: long, with letters and digits, hardly repeating."""
    if link in ("with", "to") or _placeholder(value) or len(value) < 8:  # noqa: PLR2004
        return False
    if _ALGORITHMS.fullmatch(value) or value.startswith(("http://", "https://", "/", "./", "~/")):
        return False
    return (_mixed(value) and _entropy(value) >= 2.5) or (len(value) >= 20 and _entropy(value) >= 4)  # noqa: PLR2004


def _is_foreign(value: str, link: str) -> bool:
    sure = link in (":", "=", "：", "＝", '"')
    return not _placeholder(value) and (_is_strong(value) or (sure and not _is_prose(value) and value.isascii()))


def _entropy(value: str) -> float:
    """Bits for each character, were its characters drawn at random."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def _placeholder(value: str) -> bool:
    return value.startswith(MARK[:-1]) or _PLACEHOLDER.fullmatch(value) is not None


_FAMILIES: Mapping[str, _Family] = {
    "password": _Family(_PASSWORD, _is_password),
    "phrase": _Family(_PHRASE, _is_password),
    "pass": _Family(_PASSWORD, _is_pass),
    "pin": _Family(_PIN, _is_pin),
    "key": _Family(_API_KEY, _is_key),
    "foreign": _Family(_PASSWORD, _is_foreign),
}


def _family(word: re.Match[str]) -> _Family:
    return _FAMILIES[word.lastgroup or "key"]


_FINDERS: tuple[Callable[[str], Iterator[Found]], ...] = (_shaped, _headers, _pem, _cards, _spoken)
