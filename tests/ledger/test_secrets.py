"""What is masked before anything is written, and what stays word for word."""
# ruff: noqa: RUF001 - other scripts' signs are meant

from __future__ import annotations

import re
import re._constants as kinds  # type: ignore[import-not-found]  # the parser of the standard library
import re._parser as parser  # type: ignore[import-not-found]  # has no stubs
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import InvalidInput
from firsthand.ledger import secret_shapes, secret_words
from firsthand.ledger.secrets import DEEPEST, mask, mask_json

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3xWf0abcdEFGH\nijkl0123456789+/==\n"
    "-----END RSA PRIVATE KEY-----"
)
CUT_OFF = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nand then the file ended"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

# (text, what must be gone, what must be said instead)
SECRETS = [
    # by their shape
    ("key sk-test-ABC123...", "sk-test-ABC123", "api key"),
    ("OPENAI sk-proj-abcDEF123456ghi", "abcDEF", "api key"),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39", "api key"),
    ("id AKIAIOSFODNN7EXAMPLE here", "AKIA", "api key"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza", "api key"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_", "token"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "github_pat", "token"),
    ("glpat-abcdEFGH1234ijklMNOP", "glpat", "token"),
    ("xoxb-123456789012-abcdefGHIJKL", "xoxb", "token"),
    ("hf_abcdefGHIJKL1234567890mn", "hf_", "token"),
    ("a JWT: " + JWT, "eyJ", "token"),
    ("123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "AAabc", "token"),
    ("https://hooks.slack.com/services/T0000/B0000/abcdef123456", "abcdef123456", "token"),
    ("Authorization: Bearer abc123def456ghi789", "abc123", "token"),
    ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", "token"),
    ("curl -u admin:hunter2 https://example.com", "hunter2", "password"),
    (PEM, "MIIE", "private key"),
    (PEM.replace("\n", "\\n"), "MIIE", "private key"),
    (CUT_OFF, "MIIE", "private key"),
    # card numbers, in the groupings that people type
    ("card 4111 1111 1111 1111 exp 12/27", "1111", "card number"),
    ("4111111111111111", "4111", "card number"),
    ("5555-5555-5555-4444.", "5555", "card number"),
    ("3782 822463 10005", "822463", "card number"),
    ("378282246310005", "378282", "card number"),
    ("30569309025904", "30569", "card number"),
    ("4111111111111111,5500005555555559", "5555", "card number"),
    ("4111 1111 1111 1111 3.5 kg", "1111", "card number"),
    ("卡号4111111111111111。", "4111", "card number"),
    ("４１１１１１１１１１１１１１１１", "４", "card number"),
    ("cvv 123", "123", "pin"),
    # addresses with a password
    ("postgres://app:s3cr3t@db.internal:5432/app", "s3cr3t", "password"),
    ("postgresql://app:p@ss@db/app", "p@ss", "password"),
    ("mongodb+srv://u:p4ss@cluster0.example.net", "p4ss", "password"),
    ("postgres://u:p/w1@h/db", "p/w1", "password"),
    ("Server=db;User=sa;Password=hunter2;Database=x", "hunter2", "password"),
    # said aloud
    ("Remember: db password is hunter2-example", "hunter2-example", "password"),
    ("my password is swordfish", "swordfish", "password"),
    ("pwd: x", ": x", "password"),
    ("wifi password: sunshine42", "sunshine42", "password"),
    ("the password for the wifi is sunshine42", "sunshine42", "password"),
    ("I changed my password to swordfish", "swordfish", "password"),
    ('set the root password to "let me in"', "let me in", "password"),
    ("my password's hunter2", "hunter2", "password"),
    ("log in with password hunter2", "hunter2", "password"),
    ("The admin password, as you know, is hunter2", "hunter2", "password"),
    ("hunter2 is my password", "hunter2", "password"),
    ("the passwords are hunter2 and swordf1sh", "swordf1sh", "password"),
    ("login: bob / hunter2", "hunter2", "password"),
    ("my passphrase is correct horse battery staple.", "horse", "passphrase"),
    ('the passphrase is "Let me in there"', "Let me in", "passphrase"),
    ("passphrase: Tr0ub4dor", "Tr0ub", "passphrase"),
    ("my pin is 4821", "4821", "pin"),
    ("PIN: 1234", "1234", "pin"),
    ("mein Passwort ist Geheim123", "Geheim123", "password"),
    ("Passwort: geheim", "geheim", "password"),
    ("mot de passe: soleil", "soleil", "password"),
    ("mi contraseña es Verano2024!", "Verano2024", "password"),
    ("пароль: qwerty", "qwerty", "password"),
    ("пароль от почты: qwerty12", "qwerty12", "password"),
    ("我的密码是hunter2。", "hunter2", "password"),
    ("密码：abc123", "abc123", "password"),
    ("パスワードはhunter2です", "hunter2", "password"),
    ("비밀번호는 hunter22", "hunter22", "password"),
    # codes, and what is said sign by sign
    ("the wifi code is 88442211", "88442211", "code"),
    ("wifi code is sunflower99", "sunflower99", "code"),
    ("the code for the wifi is trustno1", "trustno1", "code"),
    ("our wifi key is hunter22hunter", "hunter22", "password"),
    ("das WLAN Passwort lautet Sonnenblume7", "Sonnenblume7", "password"),
    ("der WLAN-Schlüssel ist 1234567890abcdef", "1234567890", "password"),
    ("gate code 1357", "1357", "code"),
    ("the front door code is 4711#", "4711", "code"),
    ("the combination to the safe is 12 34 56", "34", "code"),
    ("the safe combination: 12-34-56", "34", "code"),
    ("recovery code is 3F7K-88QQ", "88QQ", "code"),
    ("my pin is four seven one one", "seven", "pin"),
    ("my password is capital H hunter two", "hunter", "password"),
    ("password: h u n t e r 2", "n t e", "password"),
    ("the password is s, w, o, r, d, dash, five, five", "five", "password"),
    # bank accounts
    ("my IBAN is DE89 3704 0044 0532 0130 00, thanks", "0532", "account number"),
    ("DE89370400440532013000", "3704", "account number"),
    ("pay GB29 NWBK 6016 1331 9268 19 today", "NWBK", "account number"),
    ("IBAN: fr1420041010050500013m02606.", "2004", "account number"),
    ("to NO93 8601 1117 947 by Friday", "8601", "account number"),
    ("(CH93-0076-2011-6238-5295-7)", "6238", "account number"),
    # assigned
    ("password=" + "aB3" * 200, "aB3", "password"),
    ("DB_PASSWORD=correct-horse", "correct-horse", "password"),
    ("PGPASSWORD=hunter2 psql", "hunter2", "password"),
    ("dbPassword: 'x1'", "x1", "password"),
    ('"password": "tr0ub4dor&3",', "tr0ub4dor", "password"),
    ('{\\"password\\": \\"hunter2\\"}', "hunter2", "password"),
    ("password=$ecret1x", "ecret1x", "password"),
    ("--password hunter2", "hunter2", "password"),
    ("<password>hunter2</password>", "hunter2", "password"),
    ("api_key=a8f5f167f44f4964e6c998dee827110c", "a8f5f", "api key"),
    ("my api key is abcd1234efgh5678", "abcd1234", "api key"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr", "api key"),
    ('client_secret: "9f8a7b6c5d4e3f2a1b0c"', "9f8a7b", "api key"),
    ("https://example.com/?token=abc123def456&user=bob", "abc123", "api key"),
]

ORDINARY = [
    # talk about passwords
    "I forgot my password again",
    "I lost my passphrase",
    "the recovery phrase is written on a card in the drawer",
    "bearer authentication-mechanism",
    "the secret: v2-final-build, the token: https://example.com/abc123",
    "My password is too short",
    "the password is required and must be 12 characters",
    "password is 12 characters long",
    "password is 8-20 characters",
    "the password is stored in the vault",
    "the password to the vault is in the drawer",
    "How do I reset my password to something stronger?",
    "Reusing passwords is dangerous",
    "the password reset email went to bob2@example.com",
    "the password issue is JIRA-1234",
    "passwords are hashed with bcrypt",
    "use password hashing with SHA256",
    "the secret is to use fresh basil",
    "secret santa is on Friday",
    "the token is invalid",
    "api key is required",
    "The key is under the mat",
    "PINs are four digits, pin 4 is connected to ground",
    "the bearer of good news",
    "What is your password?",
    "I passed: it was great; tests: pass: 12, fail: 3",
    # code and placeholders
    "password: str",
    "password = getpass()",
    'password=os.environ["DB_PASSWORD"]',
    "password = config.password",
    "self.password = new_password",
    "password: ${DB_PASSWORD}",
    "password: <your password>",
    "password: ********",
    "the header reads -----BEGIN PRIVATE KEY----- and then lines follow",
    "-----BEGIN CERTIFICATE-----",
    "token = next(tokens); max_tokens: 4096; token count: 12345",
    "docker run -u root:root image",
    "session id: s1",
    "pwd: /home/me",
    # codes of other things
    "the zip code is 90210, the area code 212 and the country code is 49",
    "my promo code is SAVE20 and the error code is 404",
    "the dress code is casual, the source code is 4000 lines",
    "the door code is on the fridge",
    "the wifi code is being changed in 2 days",
    "the password is a one time thing",
    # no account: another check sum, no country, a length that is not that country's
    "DE89 3704 0044 0532 0130 01",
    "XX89 3704 0044 0532 0130 00",
    "DE89 3704 0044 0532 0130",
    "flight LH44 and the FY24 plan",
    # numbers and names
    "550e8400-e29b-41d4-a716-446655440000",
    "call +49 170 1234567 or 0049-30-1234-5678",
    "order number 1234567890123456",
    "order 4111111111111112",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "ISBN 978-3-16-148410-0",
    "IMEI 490154203237518",
    "4006381333931 is a product code",
    "at 20240101123000 or 1700000000000",
    "4.111111111111111111",
    "https://example.com:8080/path@v2 and http://localhost:3000 and mailto:a@b.c",
    "re-establish-the-connection-again-and-again",
    "sk-learn and risk-free task-management-system-2024",
    "My name is Li Ming",
    "密码太短了",
]


@pytest.mark.parametrize(("text", "gone", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(text: str, gone: str, kind: str) -> None:
    """Issue 2 and C077: keys, tokens, card numbers and passwords said aloud are masked before anything is written."""
    masked, count = mask(text)

    assert gone not in masked
    assert f"[masked: {kind}]" in masked
    assert count == masked.count("[masked: ") > 0


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_word_for_word(text: str) -> None:
    """Design: verbatim means verbatim but for masked secrets."""
    assert mask(text) == (text, 0)


def test_the_sentence_around_a_secret_stays() -> None:
    """Ours: what is masked leaves the rest of the message to be read."""
    text = "Remember: db password is hunter2-example, key sk-test-ABC123, and deploy on Friday."

    assert mask(text) == (
        "Remember: db password is [masked: password], key [masked: api key], and deploy on Friday.",
        2,
    )


@pytest.mark.parametrize("text", [text for text, _, _ in SECRETS])
def test_masking_twice_changes_nothing(text: str) -> None:
    """Ours: imported and exported text goes through the mask again."""
    once, _ = mask(text)

    assert mask(once) == (once, 0)


PIECES = (
    *("password", " is ", ": ", "hunter2", "sk-test-ABC123", "[masked: password]", "\n", "is my ", "4111 1111"),
    *(" 1111 1111", "://", "u:p4ss@h", '"', "=", "Bearer ", JWT, "pin", " 4821 ", "и пароль ", "密码是", "token="),
    *(" to ", ",", PEM),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_mixture_is_masked_once_and_for_all(text: str) -> None:
    """Ours: whatever stands beside whatever, a second pass finds nothing new."""
    once, count = mask(text)

    assert mask(once) == (once, 0)
    assert (count == 0) == (once == text)


SPLIT = (
    *("wifi", " code is ", "DE89 3704 0044", " 0532 0130 00", "pass", " phrase", "seed", " words ", "one time"),
    *(" code 4821 ", "api", " key=", "mot de", "PIN", "spin", "é"),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from((*PIECES, *SPLIT)), max_size=12).map("".join))
def test_ordinary_words_are_passed_over_without_loss(text: str) -> None:
    """Ours: most talk is told at a glance to hold no secret; what is masked is what a close look masks."""
    with patch("firsthand.ledger.secrets._may_hold_secret", return_value=True):
        looked_at_closely = mask(text)

    assert mask(text) == looked_at_closely


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_token_is_found_between_any_words(before: str, behind: str) -> None:
    """Ours: what stands around a token cannot hide it."""
    masked, _ = mask(f"{before} ghp_16C7e42F292c6912E7710c838347Ae178B4a {behind}")

    assert "16C7e42F292c6912E7710c838347Ae178B4a" not in masked


# -- JSON --------------------------------------------------------------------------------------------------------


def test_keys_tell_what_stands_under_them() -> None:
    """C077: tool arguments and metadata are covered, in every way that JSON names a secret."""
    told = {
        "args": {"password": "letmein", "user": "bob", "pin": 4821},
        "env": [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "HOME", "value": "/root"}],
        "argv": ["login", "--password", "letmein", "--verbose"],
        "passwords": ["letmein", "abc"],
        "nested": {"secret": {"value": "9f8a7b6c5d4e3f2a1b0c"}},
        "card": 4111111111111111,
        "token": "A7f9Kd2LmQ4z" * 30,
    }

    masked, count = mask_json(told)

    assert masked == {
        "args": {"password": "[masked: password]", "user": "bob", "pin": "[masked: pin]"},
        "env": [{"name": "DB_PASSWORD", "value": "[masked: password]"}, {"name": "HOME", "value": "/root"}],
        "argv": ["login", "--password", "[masked: password]", "--verbose"],
        "passwords": ["[masked: password]", "[masked: password]"],
        "nested": {"secret": {"value": "[masked: api key]"}},
        "card": "[masked: card number]",
        "token": "[masked: api key]",
    }
    assert count == 9


def test_json_without_secrets_stays_equal() -> None:
    """Ours: numbers, nulls and schemas that only speak of passwords come back as they were."""
    told = {
        "properties": {"password": {"type": "string", "description": "The password of the user"}},
        "max_tokens": 4096,
        "ok": True,
        "ratio": 0.5,
        "password": None,
        "How do I reset my password?": "Click here",
        "password_policy": {"text": "at least 12 characters, " * 20},
        "secret": "It was the best of times, it was the worst of times. " * 10,
    }

    assert mask_json(told) == (told, 0)


def test_secrets_used_as_keys_are_masked_and_none_is_lost() -> None:
    """Ours: two masked keys look alike, and both values stay."""
    masked, count = mask_json({"sk-abcdef123456": 1, "sk-uvwxyz123456": 2})

    assert masked == {"[masked: api key]": 1, "[masked: api key]'": 2}
    assert count == 2


def test_json_that_is_nested_without_end_is_refused() -> None:
    """Ours: a clear error instead of a full stack."""
    value: Any = "x"
    for _ in range(DEEPEST + 1):
        value = [value]

    with pytest.raises(InvalidInput, match="nested deeper"):
        mask_json(value)


# -- the time it takes -------------------------------------------------------------------------------------------


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in (secret_shapes, secret_words):
        yield from _patterns_of(module)


def _patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            yield name, value
    for number, (_, pattern) in enumerate(getattr(module, "_SHAPES", ())):
        yield f"_SHAPES[{number}]", pattern


# Compared with a whole value of at most 256 characters, never searched for through a text.
BOUNDED_INPUT = {"_EMPTY", "_CODE", "_RANGE", "_ORDINARY_MIX"}


@pytest.mark.parametrize(("name", "pattern"), [each for each in _patterns() if each[0] not in BOUNDED_INPUT])
def test_every_repeat_is_bounded_or_possessive(name: str, pattern: re.Pattern[str]) -> None:
    """Issue 2: a 10 MB message is fine. Counted, not timed: no pattern can try a long run in more than one way."""
    for kind, most in _repeats(parser.parse(pattern.pattern, pattern.flags)):
        assert kind is kinds.POSSESSIVE_REPEAT or most <= 512, f"{name} repeats without bound"


def _repeats(tree: Any) -> Iterator[tuple[Any, int]]:
    for kind, inside in tree:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            yield kind, int(inside[1])
        yield from _repeats_inside(inside)


def _repeats_inside(inside: Any) -> Iterator[tuple[Any, int]]:
    if isinstance(inside, parser.SubPattern):
        yield from _repeats(inside)
    elif isinstance(inside, (list, tuple)):
        for each in inside:
            yield from _repeats_inside(each)


SLOW_IF_CARELESS = (
    *("password ", "password=", "password is ", "password to ", "my pin is ", "密码", "4111 ", "1 ", "://a:", "-eyJ"),
    *("'\"`", "-----BEGIN PRIVATE KEY-----", "passphrase is word word ", "login: a / ", "http -u a:bcd "),
    *("DE89 3704 ", "DE89", "gate code ", "password is a b ", "code for the "),
)


@pytest.mark.parametrize("piece", SLOW_IF_CARELESS)
def test_twice_the_text_takes_twice_the_calls(piece: str) -> None:
    """Issue 2: work grows with the text and no faster, for texts made to be slow as well. Counted, not timed."""
    once, twice = (_calls(piece * times) for times in (1_000, 2_000))

    assert twice <= 2.2 * once + 200


def _calls(text: str) -> int:
    """How many functions are called to mask a text, those of the regular expressions included."""
    count = 0

    def counted(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        mask(text)
    finally:
        sys.setprofile(None)
    return count
