"""German: the same rules with another table."""

from __future__ import annotations

import pytest
from writer_talk import line, rules, told, turn

from firsthand.writer.rules import RulesWriter

STATEMENTS = {
    "Ich wohne in Berlin.": ["user.lives_in = Berlin"],
    "Seit 2019 wohne ich in Berlin.": ["user.lives_in = Berlin since 2019-01-01"],
    "Ich wohne seit drei Jahren in München und arbeite bei Siemens.": [
        "user.lives_in = München since 2022-01-01",
        "user.works_at = Siemens",
    ],
    "Ich bin letzten März nach Berlin gezogen.": ["user.lives_in = Berlin since 2025-03-01"],
    "Ich ziehe im September nach Lissabon.": ["user.lives_in = Lissabon since 2025-09-01"],
    "Ich wohne nicht mehr in Berlin.": ["end user.lives_in = Berlin"],
    "Hallo, ich heiße Ana.": ["user.name = Ana"],
    "Nenn mich bitte Al.": ["user.preferred_name = Al [stated]"],
    "Ich bin allergisch gegen Nüsse und Soja.": ["user.allergy = Nüsse", "user.allergy = Soja"],
    "Ich bin Vegetarierin.": ["user.diet = Vegetarierin"],
    "Ich bin Krankenschwester, kannst du mir helfen?": ["user.occupation = Krankenschwester"],
    "Ich mag Koriander nicht.": ["user.dislikes = Koriander"],
    "Ich mag keinen Koriander.": ["user.dislikes = Koriander"],
    "Ich liebe Jazz.": ["user.likes = Jazz"],
    "Ich habe am 3. Mai Geburtstag.": ["user.birthday = 3. Mai"],
    "Ich spreche Deutsch und Spanisch.": ["user.speaks = Deutsch", "user.speaks = Spanisch"],
    "Meine Schwester Ana ist Krankenschwester.": ["Ana.relationship = Schwester", "Ana.occupation = Krankenschwester"],
    "Mein Kollege Tomas hasst Fußball, aber sein Vater hat ihn angemeldet.": [
        "Tomas.relationship = Kollege",
        "Tomas.dislikes = Fußball",
    ],
    "Merk dir, dass der Code 4711 ist.": ["user = der Code 4711 ist [stated]"],
    "Merk dir bitte: ich wohne in Bonn.": ["user.lives_in = Bonn [stated]"],
    "Ich esse kein Fleisch und trinke keinen Alkohol.": ["user.avoids = Fleisch", "user.avoids = Alkohol"],
    "Ich habe von 2010 bis 2015 in Hamburg gewohnt.": ["user.lives_in = Hamburg since 2010-01-01 until 2016-01-01"],
    "Unser Hund Felix ist gestern gestorben.": [
        "end Felix.relationship since 2025-06-10",
        "end user.pet = Felix since 2025-06-10",
    ],
    "Ab jetzt antworte bitte auf Deutsch.": ["user.instruction = antworte bitte auf Deutsch [stated]"],
}

SILENT = [
    "Ich wohne in Paris, nur Spaß.",
    "Ich wohne in Berlin, war ein Scherz!",
    "Ich esse kein Frühstück.",
    "Ich trinke keinen Kaffee nach vier.",
    "Wenn ich in Rom wohne, esse ich Pizza.",
    "Wohne ich in Berlin?",
    "Sie sagte, ich wohne in Rom.",
    "Sie sagte: „Ich wohne in Rom.“",
    "Ich lebe in Frieden.",
    "Ich bin müde.",
    "Ich liebe dich.",
    "Ich mag das.",
    "Ich würde gern in Rom wohnen.",
    "Ich wäre gern Lehrer.",
    "Ich ziehe nach Rom.",
    "Tomas hasst Fußball.",
    "Stell dir vor, ich wohne in Rom.",
    "Schreib eine Geschichte: Ich wohne in Rom.",
    "Ich bin kein Arzt.",
    "Ich arbeite bei Nacht.",
]


@pytest.mark.parametrize(("text", "claims"), STATEMENTS.items())
def test_a_german_statement_is_read_as_exactly_its_claims(text: str, claims: list[str]) -> None:
    """Issue 4: a second language proves that rules are data."""
    assert told(text) == claims


@pytest.mark.parametrize("text", SILENT)
def test_german_that_says_nothing_of_the_person_yields_nothing(text: str) -> None:
    """Ours: precision before recall, in every language."""
    assert told(text) == []


def test_german_corrections_and_retractions_look_back_as_well() -> None:
    """Ours: what needs the turns before is the same in every language."""
    assert told("Ich wohne in Berlin.", "A: Berlin, schön.", "Nein, es ist Potsdam.")[-1] == (
        "correct user.lives_in = Potsdam [corrected] for Berlin"
    )
    assert told("Ich hasse Koriander.", "A: Gut.", "Vergiss das, war nur Spaß.")[-1] == "retract user [stated] of m1"


def test_a_writer_of_one_language_does_not_hear_another() -> None:
    """Ours: languages are chosen."""
    assert RulesWriter(languages=["en"]).propose([turn("Ich wohne in Berlin.")], []) == []
    assert [line(p) for p in RulesWriter(languages=["de"]).propose([turn("Ich wohne in Berlin.")], [])] == [
        "user.lives_in = Berlin"
    ]


def test_a_message_may_mix_languages() -> None:
    """Ours: each sentence is heard in each language."""
    assert [line(p) for p in rules().propose([turn("Ich wohne in Berlin. I love jazz.")], [])] == [
        "user.lives_in = Berlin",
        "user.likes = jazz",
    ]
