"""Reading and checking a policy file: what it means, and every fault that it can have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import PolicyInvalid
from firsthand.model import Kind, Source
from firsthand.policy import Attribute, Policy, default_policy, fold_name, parse

GOOD = """
[attributes.lives_in]
cardinality = "one"
merge = "latest"
phrase = "lives in {value}"
aliases = ["Home City", "resides in"]
authority = ["record", "stated"]
half_life_days = 30
lifetime_days = 90.5
sensitivity = "protected"
admission = "confirm"
kind = "procedural"
profile = true
question = "Does {subject} live in {value}?"
"""


def faults(text: str) -> str:
    """The one message that the check gives."""
    with pytest.raises(PolicyInvalid) as raised:
        parse(text)
    return str(raised.value)


def attribute(lines: str) -> str:
    """A file with one attribute `x` of these lines."""
    return f"[attributes.x]\n{lines}\n"


# -- what a file means -------------------------------------------------------------------------------------------


def test_every_key_is_read() -> None:
    """Issue 2: what an attribute carries."""
    assert parse(GOOD).attribute("home-city") == Attribute(
        name="lives_in",
        cardinality="one",
        merge="latest",
        phrase="lives in {value}",
        aliases=("home_city", "resides_in"),
        authority=frozenset({Source.RECORD, Source.STATED}),
        half_life_days=30.0,
        lifetime_days=90.5,
        sensitivity="protected",
        admission="confirm",
        kind=Kind.PROCEDURAL,
        profile=True,
        known=True,
        question="Does {subject} live in {value}?",
    )


def test_an_attribute_that_is_not_named_holds_many_values() -> None:
    """Issue 2: unknown attributes are `many`, `append`."""
    unknown = parse("").attribute("Favourite Colour")

    assert (unknown.name, unknown.cardinality, unknown.merge) == ("favourite_colour", "many", "append")
    assert not unknown.known


@pytest.mark.parametrize(("lines", "merge"), [('cardinality = "one"', "latest"), ('cardinality = "many"', "append")])
def test_a_merge_rule_that_is_left_out_is_the_usual_one(lines: str, merge: str) -> None:
    """Ours: short entries mean what one would expect."""
    assert parse(attribute(lines)).attribute("x").merge == merge


def test_classes_that_a_file_leaves_out_are_the_shipped_ones() -> None:
    """Ours: silence opens no door."""
    assert parse("").sensitivities == default_policy().sensitivities


def test_a_class_may_be_made_stricter() -> None:
    """Ours: a deployment decides what its people have to confirm."""
    policy = parse('[classes.health]\nsaid = "confirm"\nnoted = "drop"\ninferred = "drop"\nwords = ["flu*"]')
    health = policy.sensitivities["health"]

    assert health.admits[Source.STATED] == "confirm"
    assert health.admits[Source.QUOTED] == "drop"
    assert health.found_in("Fluish since Monday")
    assert not health.found_in("influence")


def test_a_source_may_be_told_from_its_rank() -> None:
    """Ours: a record may know what a remark may not claim."""
    policy = parse('[classes.legal]\nsaid = "drop"\nnoted = "drop"\ninferred = "drop"\nrecord = "write"')

    assert policy.sensitivities["legal"].admits[Source.RECORD] == "write"
    assert policy.sensitivities["legal"].admits[Source.STATED] == "drop"


# -- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_name", "folded"),
    [
        ("Home City", "home_city"),
        ("home-city", "home_city"),
        ("homeCity", "home_city"),
        ("HomeCity", "home_city"),
        ("HOME_CITY", "home_city"),
        ("  home   city ", "home_city"),
        ("HTTPPort", "http_port"),
        ("can't stand", "can_t_stand"),
        ("Cafe\u0301", "café"),
        ("Wohnort", "wohnort"),
        ("любимый Цвет", "любимый_цвет"),
        ("住所", "住所"),
        ("b12", "b12"),
        ("?!", "?!"),
    ],
)
def test_names_fold_by_snake_case(given_name: str, folded: str) -> None:
    """Design: attribute names fold by snake case and the policy's alias list only."""
    assert fold_name(given_name) == folded


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(name: str) -> None:
    """Ours: a folded name is its own name, so that slots do not split."""
    assert fold_name(fold_name(name)) == fold_name(name)


# -- texts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "name", "value", "text"),
    [
        ("user", "lives_in", "Lisbon", "lives in Lisbon"),
        ("User", "lives_in", "Lisbon", "lives in Lisbon"),
        ("Joe", "lives_in", "Lisbon", "Joe lives in Lisbon"),
        ("user", "favourite colour", "green", "favourite colour: green"),
        ("Joe", "favourite colour", "green", "Joe, favourite colour: green"),
        ("user", None, "Prefers tea", "Prefers tea"),
        ("Joe", None, "Prefers tea", "Joe: Prefers tea"),
        ("Joe", None, "Joe prefers tea", "Joe prefers tea"),
        ("{value}", "lives_in", "{subject}", "{value} lives in {subject}"),
    ],
)
def test_a_belief_reads_as_a_sentence_of_its_subject(subject: str, name: str | None, value: str, text: str) -> None:
    """API: the phrase makes the text; braces in values are only braces."""
    assert parse(GOOD).phrase(subject, name, value) == text


@pytest.mark.parametrize(
    ("subject", "name", "question"),
    [
        ("user", "lives_in", "Does the user live in Lisbon?"),
        ("Joe", "lives_in", "Does Joe live in Lisbon?"),
        ("user", "other", 'May I remember this: "other: Lisbon"?'),
        ("user", None, 'May I remember this: "Lisbon"?'),
    ],
)
def test_a_question_is_in_plain_words(subject: str, name: str | None, question: str) -> None:
    """Design: what waits comes with the question to put to the person."""
    assert parse(GOOD).question(subject, name, "Lisbon") == question


def test_a_question_to_the_user_is_not_asked_about_others() -> None:
    """Ours: "Do you live in …" asks nothing about Joe."""
    assert default_policy().question("Joe", "lives_in", "Rome") == 'May I remember this: "Joe lives in Rome"?'


def test_an_explanation_says_all_that_the_file_decides() -> None:
    """Issue 2: `firsthand policy explain ATTRIBUTE`, as a person reads it."""
    assert parse(GOOD).explain("Resides In") == [
        'lives_in: reads "lives in …", procedural memory, one at a time.',
        "Also called: home city, resides in.",
        (
            "The latest word holds: what is said later replaces what was said before, also when it was only quoted from"
            " talk. What an agent noted or a model inferred replaces nothing that the person said."
        ),
        "Only these sources may claim it: record, stated. Claims of others are dropped.",
        "Stops being active 90.5 days after it was last said.",
        "Trust in it halves every 30 days without support.",
        (
            "Sensitive (protected traits). record, stated, corrected: written; agent, quoted: waiting for confirmation;"
            " inferred: not kept."
        ),
        "Whatever the person did not say outright waits for confirmation.",
        "Part of the profile that every context starts with.",
    ]


def test_an_unknown_attribute_is_explained_as_one() -> None:
    """Ours: the reader sees that the file says nothing of it."""
    assert parse("").explain("Shoe Brand") == [
        "shoe_brand: the policy does not name it, so any number of values stand side by side.",
        "Every value stands on its own; a new one is added beside the others.",
        "Any source may claim it.",
        "Holds until something replaces or ends it.",
    ]


# -- the digest --------------------------------------------------------------------------------------------------


def test_the_digest_is_of_the_meaning() -> None:
    """Ours: comments, spacing and order do not make it another policy."""
    lines = GOOD.strip().splitlines()
    shuffled = "\n\n".join([f"# a comment\n{lines[0]}   # and another", *reversed(lines[1:])])
    spelled = GOOD.replace('["Home City", "resides in"]', '["resides-in", "homeCity"]').replace("= 30", "= 30.0")

    assert parse(shuffled).digest == parse(GOOD).digest == parse(spelled).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"one"', '"many"'),
        ('"latest"', '"ranked"'),
        ("lives in {value}", "stays in {value}"),
        ("resides in", "dwells in"),
        ('["record", "stated"]', '["record"]'),
        ("half_life_days = 30", "half_life_days = 31"),
        ("lifetime_days = 90.5", "lifetime_days = 91"),
        ('"protected"', '"health"'),
        ('"confirm"', '"drop"'),
        ('"procedural"', '"episodic"'),
        ("profile = true", "profile = false"),
        ("Does {subject}", "Would {subject}"),
    ],
)
def test_whatever_the_file_decides_is_in_the_digest(old: str, new: str) -> None:
    """Design: the policy's digest is in the store; opening with another one is refused."""
    changed = GOOD.replace(old, new)
    if new == '"many"':
        changed = changed.replace('"latest"', '"append"')

    assert changed != GOOD
    assert parse(changed).digest != parse(GOOD).digest


def test_a_class_is_in_the_digest() -> None:
    """Ours: what may enter is part of the policy."""
    lines = '[classes.health]\nsaid = "write"\nnoted = "confirm"\ninferred = "drop"\nwords = ["flu"]\n'

    digests = {parse(lines).digest, parse(lines.replace("flu", "cold")).digest, parse("").digest}
    assert len(digests) == 3


def test_the_text_is_kept_as_it_was_given() -> None:
    """Design: the store keeps the policy's text, and parsing it again gives the same policy."""
    policy = parse(GOOD)

    assert policy.text == GOOD
    assert parse(policy.text) == policy


# -- faults ------------------------------------------------------------------------------------------------------

FAULTS = [
    ('merge = "lastest"\ncardinality = "one"', ["line 2", "attributes.x.merge", '"lastest"', 'did you mean "latest"?']),
    ('cardinality = "on"', ["attributes.x.cardinality", '"on"', 'did you mean "one"?']),
    ('cardinalty = "one"', ["attributes.x.cardinalty: unknown key", 'did you mean "cardinality"?']),
    ("cardinality = 1", ["cardinality: must be one of one, many, not a number"]),
    ('cardinality = "one"\nmerge = "append"', ['"append" does not go with cardinality "one"', "latest, ranked"]),
    ('cardinality = "many"\nmerge = "latest"', ['"latest" does not go with cardinality "many"', "append, confirm"]),
    ('cardinality = "many"\nmerge = "ranked"', ['"ranked" does not go']),
    ('cardinality = "many"\nmerge = "alternatives"', ['"alternatives" does not go']),
    ("phrase = 3", ["phrase: must be text, not a number"]),
    ('phrase = "lives here"', ["phrase: must name {value}"]),
    ('phrase = "{value} {place}"', ["phrase: may name {value} and {subject}, not {place}"]),
    ('phrase = "{value"', ["phrase: has a stray brace"]),
    ('question = "Really?"', ["question: must name {value}"]),
    ('aliases = "city"', ["aliases: must be a list of texts"]),
    ("aliases = [1]", ["aliases: must be a list of texts"]),
    ('aliases = ["?!"]', ["aliases", '"?!"', "no letter"]),
    ('opposite = "y"', ["opposite", '"y" is no attribute of this file']),
    ('opposite = "x"', ["an attribute is not its own opposite"]),
    ("opposite = 1", ["opposite: must be the name of an attribute"]),
    ('opposite = "y"\n[attributes.y]', ['not mutual: write opposite = "x" in [attributes.y]']),
    (
        'cardinality = "one"\nopposite = "y"\n[attributes.y]\nopposite = "x"',
        ["attributes.x.opposite: y has another cardinality or merge rule", "attributes.y.opposite"],
    ),
    (
        'cardinality = "one"\nmerge = "ranked"\nopposite = "y"\n[attributes.y]\ncardinality = "one"\nopposite = "x"',
        ["another cardinality or merge rule"],
    ),
    ('authority = ["recrod"]', ["authority", '"recrod" is no source', 'did you mean "record"?']),
    ('authority = ["repeated"]', ['"repeated" is derived']),
    ('authority = "record"', ["authority: must be a list of texts"]),
    ("half_life_days = -1", ["half_life_days: must be more than zero days, not -1"]),
    ("lifetime_days = 0", ["lifetime_days: must be more than zero"]),
    ("lifetime_days = nan", ["lifetime_days: must be more than zero"]),
    ("lifetime_days = inf", ["lifetime_days: must be more than zero"]),
    ("half_life_days = true", ["half_life_days: must be a number of days, not true or false"]),
    ('half_life_days = "30"', ["half_life_days: must be a number of days, not text"]),
    ("half_life_days = 2026-01-01", ["half_life_days: must be a number of days, not a date"]),
    ('sensitivity = "helth"', ["sensitivity", '"helth" is not one of', 'did you mean "health"?']),
    ('admission = "wait"', ["admission", '"wait" is not one of write, confirm, drop']),
    ('kind = "working"', ["kind", '"working" is not one of semantic, episodic, procedural']),
    ('profile = "yes"', ["profile: must be true or false, not text"]),
    ("profile = 1", ["profile: must be true or false, not a number"]),
    ('aliases = ["y"]\n[attributes.y]', ['attributes.x.aliases: "y" already means y']),
    ('aliases = ["z"]\n[attributes.y]\naliases = ["z"]', ['attributes.y.aliases: "z" already means x']),
]


@pytest.mark.parametrize(("lines", "named"), FAULTS, ids=[lines.replace("\n", "; ") for lines, _ in FAULTS])
def test_a_fault_is_named_with_its_attribute_and_key(lines: str, named: list[str]) -> None:
    """Issue 2: a policy with a typo gives one clear line."""
    message = faults(attribute(lines))

    assert all(part in message for part in named), message
    assert "\n" not in message


FILES = [
    ("attributes = 3", ["attributes: must be a table, as in [attributes.name]"]),
    ("[attributes]\nx = 3", ["attributes.x: must be a table: write [attributes.x]"]),
    ("[attribute.x]", ["attribute: unknown key", 'did you mean "attributes"?']),
    ('[attributes."Home City"]', ['name is not in snake case: write "home_city"']),
    ('[attributes.""]', ["name"]),
    ("classes = []", ["classes: must be a table"]),
    ("[classes]\nhealth = 1", ["classes.health: must be a table"]),
    ('[classes.helth]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"', ["unknown sensitive class", '"health"']),
    ('[classes.health]\nsaid = "write"\ninferred = "drop"', ["classes.health.noted: missing"]),
    ('[classes.health]\nsaid = "write"\nnoted = "write"\ninferred = "confirm"', ["never enters from inference"]),
    ('[classes.health]\nsaid = "yes"\nnoted = "drop"\ninferred = "drop"', ['said: "yes" is not one of']),
    ('[classes.credential]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"', ["credentials never enter"]),
    ('[classes.health]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"\nwords = ["*"]', ['words: "*" is empty']),
    ('[classes.health]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"\nwords = "flu"', ["words: must be a list"]),
    ('[classes.health]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"\nabout = 1', ["about: must be text"]),
    ('[classes.health]\nsaid = "write"\nnoted = "drop"\ninferred = "drop"\nword = []', ['did you mean "words"?']),
    ("[attributes.x", ["not TOML"]),
    ("[attributes.x]\n[attributes.x]", ["not TOML"]),
]


@pytest.mark.parametrize(("text", "named"), FILES, ids=[text.replace("\n", "; ") for text, _ in FILES])
def test_a_file_that_is_built_wrong_is_refused(text: str, named: list[str]) -> None:
    """Issue 2: a policy with a typo gives one clear line."""
    message = faults(text)

    assert all(part in message for part in named), message
    assert "\n" not in message


def test_all_faults_come_in_one_message_by_line() -> None:
    """Ours: one look at the message, one look at the file."""
    message = faults('[attributes.x]\nmerge = "lastest"\nprofile = 1\n\n[attributes.y]\nkinds = "semantic"\n')

    assert message.startswith("the policy has 3 faults: line 2: attributes.x.merge")
    assert message.index("line 3: attributes.x.profile") < message.index("line 6: attributes.y.kinds")


def test_a_mark_in_front_of_the_file_is_no_fault() -> None:
    """Ours: some editors begin a file with a byte order mark."""
    assert parse("\ufeff" + GOOD).digest == parse(GOOD).digest


def test_one_fault_is_counted_as_one() -> None:
    """Ours: the message reads as a sentence."""
    assert faults(attribute("profile = 1")).startswith("the policy has 1 fault: line 2: ")


def test_the_shipped_policy_is_read_once() -> None:
    """Ours: the file is read from the package, and kept."""
    assert isinstance(default_policy(), Policy)
    assert default_policy() is default_policy()
