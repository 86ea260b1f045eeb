"""Secrets that words announce: "my password is …", `api_key=…`, a PIN, a passphrase, in several languages.

A word for a secret, what ties it to what follows, and whether that looks like one. Every repeat is bounded or
possessive and the search goes on behind what it looked at, so that the time taken grows with the length of the text
and nothing else. Secrets that show by themselves are in `secret_shapes.py`.
"""
# ruff: noqa: RUF001 - other scripts' signs are meant

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from firsthand.ledger.secret_shapes import (
    API_KEY,
    CODE,
    MARK,
    PASSWORD,
    PHRASE,
    PIN,
    Found,
    end_of,
    is_mixed,
    is_placeholder,
)

# -- said aloud, or assigned -------------------------------------------------------------------------------------

_LONGEST_LABEL = 80
_MOST_WORDS = 4  # of a name; more is a sentence
# What a code opens. A code of anything else (a country, an error, a voucher) is no secret.
_WIFI = r"(?:wi-?fi|wlan|wireless|internet|hotspot|router)"
_OPENED = (
    r"(?:" + _WIFI + r"|(?:front |back |garage )?door|gate|alarm|safe|vault|garage|lock(?:er|box| box)?|keypad|house"
    r"|building|bike lock|suitcase|phone|screen|sim|entry|unlock|recovery|backup|t[uü]r|haust[uü]r|tor|tresor)"
)
_LONGEST_VALUE = 256
_KEYWORD = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[a-z])(?=[PKTS]))(?:"  # DB_PASSWORD and dbPassword as well
    r"(?P<password>(?i:(?:pg)?passwords?\d?|passwd|passcode|pwd|pw|passwort|kennwort|contrase[nñ]a|mot de passe|senha"
    r"|wachtwoord|has[lł]o|[sş]ifre|l[oö]senord|adgangskode|salasana"
    r"|" + _WIFI + r"[ -]?(?:schlüssel|key)))(?![A-Za-z])"
    r"|(?P<code>(?i:" + _OPENED + r"[ -]?(?:codes?|combination|kombination)|puk(?: code)?"
    r"|(?:codes?|combination)(?=[ \t](?:for|to|of|für|zum|zur)[ \t](?:(?:the|our|my|your|das|die|den)[ \t])?"
    + _OPENED
    + r"\b)))(?![A-Za-z])"
    r"|(?P<phrase>(?i:pass ?phrase|(?:seed|recovery|secret|mnemonic) phrase|seed words))(?![A-Za-z])"
    r"|(?P<pass>(?i:pass))(?=[ \t]{0,2}[:=])"
    r"|(?P<pin>(?i:pin(?:[ -]?(?:code|number|nummer))?|cvv2?|cvc2?|otp|(?:2fa|one[ -]time|verification|security) code))"
    r"(?![A-Za-z])"
    r"|(?P<key>(?i:(?:api|access|secret|private|auth|account|signing|encryption|license|licence|client|service|master|app)"
    r"[_ -]?key|apikey|(?:api|access|auth|refresh|bearer|bot|session|id|csrf|oauth|personal access|deploy|security)"
    r"[_ -]?token|client[_ -]?secret|secret[_ -]?access[_ -]?key|app[_ -]?secret|shared[_ -]?secret|secret|token"
    r"|api[_ -]?schlüssel|cl[eé] api|clave (?:de )?api|chave (?:de )?api))(?![A-Za-z])"
    r")"
    r"|(?P<foreign>пароль|пароля|密码|密碼|口令|パスワード|비밀번호|סיסמה|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|รหัสผ่าน)"
)
# "the password for the wifi", "password to prod": what it opens, before the word that says what it is.
_OPENS = re.compile(
    r"[ \t]{1,3}(?i:for|to|of|on|für|zu|para|pour|de|для|от)[ \t][^\n.,:;=!?\"'`\[\]]{1,40}?"
    r"(?=[ \t]{0,3}(?:[:=：]|(?i:is|was|ist|lautet|es|est|это)[ \t]))"
)
_LINK = re.compile(
    r"(?:\\{0,3}[\"'`])?[ \t\u00a0]{0,4}"
    r"(?P<link>>(?=[^<\s]{1,256}</)|:=|=>|->|==?|[:：＝]|→"
    r"|(?i:is|are|was|ist|lautet|est|es|é|è|eh|это|to|auf|à|a|на)(?=[ \t])"
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
_PUNCTUATION = ".,;:)]}…"  # ends a sentence or a list; "!" and "?" may well end a password
_WORDS = re.compile(r"[a-z]{2,20}(?:[ \t][a-z]{2,20}){2,30}(?=[ \t]{0,2}(?:[.,;!?\n\"']|$))")
_USED = re.compile(r"(?i:(?:with|using|use|via|mit|con|avec)(?: the| my| this| password)?[ \t])$")
_SETS = re.compile(
    r"(?i:\b(?:set|sets|setting|chang\w{1,3}|reset|resetting|updat\w{1,3}|made|make|switch\w{0,3}|rotat\w{1,3})\b)"
)
_LOOKS_BACK = 40

# Words that follow "the password is" in ordinary talk. A password that is one of them stays, and says little.
_ORDINARY = frozenset(
    "a about above accepted actually again all allowed almost also always an and another any anything argument"  # noqa: SIM905 - read and changed as words
    " arguments as at auth authentication available bad based because been before being best better between bool"
    " boolean both but by bytes case case-sensitive changed changing char clear compromised configurable configured"
    " copied correct correctly crucial currently default different difficult disabled due easy eight either empty"
    " enabled encoded encrypted enough entered even exactly expired expiring false field fields fine five fixed flag"
    " flags for forbidden forgotten four from generated given going gone good great guessable half handled hard hashed"
    " her here hidden his hopefully how i if important impossible in incorrect insecure inside int integer invalid is"
    " it its just kept known leaked less like linked locked long longer lost made managed mandatory masked missing"
    " more most much must my needed never new nil no none not nothing null number ok okay old on one only option"
    " optional options or our out outdated over perhaps plain possible present private probably protected public quite"
    " random rather really recorded redacted rejected required reset reused right rotated safe same saved secure"
    " secured sensitive sent set seven shared short shorter six so some somebody someone something somewhere still"
    " stored str string strong stronger temporary ten text that the their them then there these they this those three"
    " to today tomorrow too true two typed unchanged undefined under unique unknown unsafe unset until up updated use"
    " used user using valid very via visible was we weak weaker well what when where which who whole why with without"
    " working written wrong yes yet you your yours"
    " falsch richtig nicht zu ein eine der die das abgelaufen vergessen leer incorrecta incorrecto olvidada demasiado"
    " trop oublié oubliée incorrect invalide errata sbagliata errada неверный неправильный забыл".split()
)
_FUNCTION_WORDS = frozenset(
    "a an the is are was it not in to of too by for on at and or that this stored kept written with my your our if when"  # noqa: SIM905 - read and changed as words
    " must should can will be has have you i we they than so very".split()
)
_ALGORITHMS = re.compile(
    r"(?i)(?:oauth|sha|md|aes|rsa|bcrypt|scrypt|argon|pbkdf|v|utf|base|http|tls|ssl|pkcs|ed|saml|fido|level|step|rule"
    r"|section|page|line|type|part|version|1password|keepass)[-_ ]?\d[\w.-]{0,12}"
)
_RANGE = re.compile(r"[\d.,–—+/%-]*")
_FEWEST_DIGITS = 4
# Endings of words that tell how a password is.
_FORMS = ("ed", "ing", "able", "ible", "ly", "ous", "ful", "less", "tial", "ical", "ional", "tive")
_SHORTEST_FORM = 5


# The last word, or the only telling one, of what is announced by several: "seed phrase", "verification code".
_PIECE = re.compile(
    r"(?i:passe|phrase|codes?|combination|kombination|key|api|api-schlüssel|schlüssel)(?![A-Za-z])|المرور|السر|khẩu"
)
_LOGIN_PIECE = re.compile(r"(?i:log-?in|credentials|creds|zugangsdaten|identifiants|/pass)")


def announces(word: str) -> bool:
    """Whether what stands between two blanks may be, or end, the words that announce a secret."""
    return (
        word.casefold().endswith(("pass", "seed"))
        or _KEYWORD.search(word) is not None
        or _PIECE.match(word) is not None
        or _LOGIN_PIECE.search(word) is not None
    )


class _Family(NamedTuple):
    """A family of words that announce a secret, and what may follow them as one."""

    kind: str
    accepts: Callable[[str, str], bool]  # (value, link) -> whether it is a secret


def announced(text: str) -> Iterator[Found]:
    """Secrets that a word announces. The search goes on behind each value, so nothing is read twice."""
    at = 0
    while word := _KEYWORD.search(text, at):
        at = word.end()
        found = None if _marks(text, word) else _beside(text, word)
        if found is not None:
            yield found
            yield from (others := list(_listed(text, found)))
            at = max(at, (others or [found])[-1].end)


def _beside(text: str, word: re.Match[str]) -> Found | None:
    """The secret that belongs to the word: right behind it, further on in its sentence, or before it."""
    if word.lastgroup == "phrase":
        return _passphrase(text, word)
    found = _behind(text, word)
    if found is None and word.lastgroup in ("password", "foreign", "key", "pin"):
        found = _further_on(text, word) or _before(text, word)
    return found


def _behind(text: str, word: re.Match[str]) -> Found | None:
    family = _family(word)
    link, at = _link(text, word)
    if link is None:
        return None
    spelled = _spelled(text, at, link, word)
    if spelled > at:
        return Found(at, spelled, family.kind)
    start, end = _value_at(text, at)
    quoted = start > at
    if not quoted:
        end = _cut(text, start, end, _ends_of(text, word, link))
    value = text[start:end].rstrip("!?")
    if not value or not family.accepts(value, '"' if quoted and link != "to" else link):
        return None
    return Found(start, end if quoted else _whole(text, start, end), family.kind)


# Letters, figures and signs said one by one: "capital H, u, n, t, e, r, two".
_LETTER = r"(?:(?:capital|upper[ -]?case|lower[ -]?case)[ ](?:letter[ ])?[A-Za-z](?:[ -][a-z]{2,20})?)"
_FIGURE = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple"
    r"|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun)"
)
_SIGN = r"(?:dash|hyphen|underscore|dot|dollar(?: sign)?|hash(?:tag)?|at sign|exclamation (?:mark|point)|star|asterisk)"
_SAID = rf"(?:{_LETTER}|{_FIGURE}|{_SIGN}|[A-Za-z]|\d{{1,4}})(?![^\W_])"
_APART = r"(?:,[ ]|[ ,-])"
_SPELLED = re.compile(rf"(?i:{_LETTER}(?:{_APART}{_SAID}){{1,40}}|{_SAID}(?:{_APART}{_SAID}){{2,40}})")


def _spelled(text: str, at: int, link: str, word: re.Match[str]) -> int:
    """Where a secret ends that is said sign by sign; the place itself where none is."""
    if link not in _SURE or word.lastgroup not in ("password", "pin", "code", "foreign"):
        return at
    return end_of(_SPELLED, text, at)


_GOES_ON = re.compile(
    r"[^\n.!?]{1,60}?[ \t,)](?i:is|be|to|ist|sein|es|est)"
    r"(?:[ \t]{1,3}|[ \t]{0,3}:[ \t]{0,3})(?P<value>[^\s\"'`,]{6,64})(?![^\s,])"
)
_COMES_BEFORE = re.compile(
    r"(?<!\S)[\"'`]?(?P<value>[^\s\"'`,]{6,64})[\"'`]?[ \t](?i:is|as|was|ist|als|es|como)[ \t]"
    r"(?:[^\W\d_]{1,12}[ \t]){0,3}$"
)
_AND = re.compile(
    r"[ \t]{0,2}[\"'`]?(?:,|;|/|&|\b(?i:and|or|und|oder|et|ou|y|o|и|или)\b)[ \t]{0,2}(?i:and |or |then )?[\"'`]?"
    r"(?P<value>[^\s\"'`,;]{4,64})"
)


def _further_on(text: str, word: re.Match[str]) -> Found | None:
    """What follows later in the sentence, as in "the admin password, as you know, is …", where it is no usual word."""
    found = _GOES_ON.match(text, word.end())
    return _made_up(found, text, _family(word).kind)


def _before(text: str, word: re.Match[str]) -> Found | None:
    """What stands before the word, as in "… is my password"."""
    found = _COMES_BEFORE.search(text, max(0, word.start() - _LOOKS_BACK * 2), word.start())
    return _made_up(found, text, _family(word).kind)


def _listed(text: str, first: Found) -> Iterator[Found]:
    """More of the same: "the passwords are … and …"."""
    at = first.end
    while (found := _made_up(_AND.match(text, at), text, first.kind)) is not None:
        yield found
        at = found.end


def _made_up(found: re.Match[str] | None, text: str, kind: str) -> Found | None:
    if found is None:
        return None
    start, end = found.span("value")
    value = text[start:end].rstrip(_PUNCTUATION)
    plain = value.startswith(("http", "/")) or _ORDINARY_MIX.fullmatch(value) or _ALGORITHMS.fullmatch(value)
    if plain or is_placeholder(value) or not (is_mixed(value) and _is_strong(value.rstrip("!?"))):
        return None
    return Found(start, start + len(value), kind)


# Letters with digits that are no secret: tickets, versions, measures, addresses, times, names with a number.
_ORDINARY_MIX = re.compile(
    r"[A-Za-z]{1,12}-\d{1,7}|[vV]?\d[\d.]*[a-z]{0,3}\d?|[^@]+@[^@]+\.\w+|\d{1,4}[a-z]{1,10}|\d[\d:.,/-]*[A-Za-z]{0,10}"
    r"|\d{4}-\d\d.*|[A-Z][a-z]+\d{1,2}|[\w.-]+\.(?:com|org|net|io|dev|py|js|ts|md|txt|json|toml|yaml|yml|sh)"
)


def _ends_of(text: str, word: re.Match[str], link: str) -> str:
    """The signs that end a bare value where it stands: in a query string, in "Password=…;Database=…", in a tag."""
    if link == ">":
        return "<"
    if link != "=":
        return ""
    return "&;" if text[max(0, word.start() - 1) : word.start()] in ("?", "&") else ";"


def _cut(text: str, start: int, end: int, signs: str) -> int:
    return min([end, *(at for sign in signs if (at := text.find(sign, start, end)) >= 0)])


_LOGIN = re.compile(
    r"\b(?i:log-?in|credentials|creds|zugangsdaten|identifiants|user ?(?:name)?/pass(?:word)?)\b"
    r"(?:[ \t](?i:is|are|for)[ \t](?:[^\n:/]{1,30}:)?)?[ \t]{0,2}[:=]?[ \t]{0,2}"
    r"[^\s/:,]{1,64}[ \t]{0,2}[/:|][ \t]{0,2}(?P<value>[^\s,;]{4,64})"
)


def logins(text: str) -> Iterator[Found]:
    """The second half of "login: name / password"."""
    for found in _LOGIN.finditer(text):
        secret = _made_up(found, text, PASSWORD)
        if secret is not None:
            yield secret


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
    if flag is not None and (word[0].casefold().startswith("cv") or word.lastgroup == "code"):
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
    return end_of(_REST, text, end) if end - start >= _LONGEST_VALUE - len(_PUNCTUATION) else end


def _passphrase(text: str, word: re.Match[str]) -> Found | None:
    """A phrase of plain words that holds no sentence: "correct horse battery staple"."""
    link, at = _link(text, word)
    if link is None or link in ("to", "with"):
        return None
    start, end = _value_at(text, at)
    if start > at:
        return Found(start, end, PHRASE)
    words = _WORDS.match(text, at)
    if words is not None:
        said = not _FUNCTION_WORDS.intersection(words[0].split())
        return Found(words.start(), words.end(), PHRASE) if said else None
    value = text[start:end]
    return Found(start, end, PHRASE) if value and _is_password(value, link) else None


_SURE = frozenset((*"is are was ist lautet set := => -> → ： ＝ : = == > 是 为 為 は".split(), '"'))  # noqa: SIM905 - read and changed as words


def _is_password(value: str, link: str) -> bool:
    if is_placeholder(value, quoted=link == '"') or not any(char.isalnum() for char in value):
        return False
    if link in ("=", ":") and value.replace("_", "").isalpha() and _KEYWORD.search(value) is not None:
        return False  # a name in code: password = new_password
    if link in _SURE and not _is_prose(value):
        return True
    return _is_strong(value) and not (link in ("with", "to") and (_ALGORITHMS.fullmatch(value) or len(value) < 6))  # noqa: PLR2004


def _is_prose(value: str) -> bool:
    """Whether a word that follows "password is" is part of a sentence, or a figure."""
    if _RANGE.fullmatch(value):
        return sum(char.isdigit() for char in value) < _FEWEST_DIGITS
    word = value.casefold()
    last = word.rsplit("-", 1)[-1]
    if word in _ORDINARY or last in _ORDINARY or value.startswith(("/", "~/", "./")):
        return True
    return word.isalpha() and len(word) > _SHORTEST_FORM and word.endswith(_FORMS)


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
    return (
        link in (":", "=", '"')
        and not is_placeholder(value, quoted=link == '"')
        and _is_strong(value)
        and is_mixed(value)
    )


def _is_pin(value: str, link: str) -> bool:
    return link not in ("with", "to") and re.fullmatch(r"[0-9]{3,8}", value) is not None


def _is_code(value: str, link: str) -> bool:
    """Whether it opens a door or a network: figures, in one piece or in pairs, or a word with figures in it."""
    quoted = link == '"'
    if link in ("with", "to") or is_placeholder(value, quoted=quoted):
        return False
    if re.fullmatch(r"[0-9][0-9#*-]{2,23}", value):
        return True
    return is_mixed(value) and _is_strong(value) and (quoted or _ORDINARY_MIX.fullmatch(value) is None)


def _is_key(value: str, link: str) -> bool:
    """Whether an assigned value is random enough to be a key: long, with letters and digits, hardly repeating."""
    if link in ("with", "to") or is_placeholder(value, quoted=link == '"') or len(value) < 8:  # noqa: PLR2004
        return False
    if _ALGORITHMS.fullmatch(value) or value.startswith(("http://", "https://", "/", "./", "~/")):
        return False
    return (is_mixed(value) and _entropy(value) >= 2.5) or (len(value) >= 20 and _entropy(value) >= 4)  # noqa: PLR2004


def _is_foreign(value: str, link: str) -> bool:
    sure = link in (":", "=", "：", "＝", '"')
    return not is_placeholder(value, quoted=link == '"') and (
        _is_strong(value) or (sure and not _is_prose(value) and value.isascii())
    )


def _entropy(value: str) -> float:
    """Bits for each character, were its characters drawn at random."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


_FAMILIES: Mapping[str, _Family] = {
    "password": _Family(PASSWORD, _is_password),
    "phrase": _Family(PHRASE, _is_password),
    "pass": _Family(PASSWORD, _is_pass),
    "pin": _Family(PIN, _is_pin),
    "code": _Family(CODE, _is_code),
    "key": _Family(API_KEY, _is_key),
    "foreign": _Family(PASSWORD, _is_foreign),
}


def _family(word: re.Match[str]) -> _Family:
    return _FAMILIES[word.lastgroup or "key"]


def names_secret(label: str) -> bool:
    """Whether a key, a flag or a variable's name says that what stands under it is a secret."""
    name = _spread(label)
    return (
        len(label) <= _LONGEST_LABEL
        and "?" not in label
        and len(name.split()) <= _MOST_WORDS
        and (_KEYWORD.search(name) is not None)
    )


def _spread(label: str) -> str:
    """A key as words are looked for: "dbPassword" is two words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", label)


def kind_under(label: str, value: str) -> str | None:
    """The kind of secret that a value is under this key; None when it is none."""
    found = _KEYWORD.search(_spread(label))
    start = value[:_LONGEST_VALUE]
    if found is None or (start != value and _BLANK.search(start)):  # longer than a secret is only a text
        return None
    family = _family(found)
    return family.kind if family.accepts(start, ":") else None


_BLANK = re.compile(r"\s")
