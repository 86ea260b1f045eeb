"""Every attribute of the shipped policy: what it is called, how it reads, and what becomes of a second value."""
# ruff: noqa: RUF001 - other scripts' letters are meant

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from firsthand.beliefs.fold import fold_slot
from firsthand.beliefs.view import view
from firsthand.model import Act, Kind, Observation, Position, Source, State, micros
from firsthand.policy import CLASSES, MERGES, Attribute, default_policy, fold_name, parse
from firsthand.ports import Row

POLICY = default_policy()
MORNING = datetime(2026, 6, 1, 8, tzinfo=UTC)

CHANGES = "what was said later holds, also when it was only quoted"
STAYS = "a quote does not replace what was stated"
BESIDE = "both values stand"
ASKED = "only the person's own word counts"

# (attribute, what else it is called, a value and its sentence, another value, what becomes of the first)
EXPECTED = [
    ("name", "Full Name", "Li Ming", "is called Li Ming", "Li Meng", CHANGES),
    ("preferred_name", "call me", "Sam", "wants to be called Sam", "Sammy", CHANGES),
    ("pronouns", "preferred pronouns", "she/her", "uses the pronouns she/her", "they/them", CHANGES),
    ("age", "years old", "41", "is 41 years old", "42", CHANGES),
    ("birthday", "date-of-birth", "3 May", "was born on 3 May", "4 May", STAYS),
    ("speaks", "languages", "Spanish", "speaks Spanish", "Portuguese", BESIDE),
    ("timezone", "Time Zone", "Europe/Lisbon", "is in the time zone Europe/Lisbon", "UTC", CHANGES),
    ("hometown", "grew up in", "Ponce", "comes from Ponce", "San Juan", STAYS),
    ("education", "degree", "architecture", "has this education: architecture", "design", BESIDE),
    ("lives_in", "home_city", "Berlin", "lives in Berlin", "Lisbon", CHANGES),
    ("shipping_address", "delivery address", "1 Elm St", "has things sent to 1 Elm St", "my mother's", STAYS),
    ("email", "E-mail address", "a@b.example", "can be reached at a@b.example", "c@d.example", CHANGES),
    ("phone", "mobileNumber", "+49 170 1", "can be called on +49 170 1", "+49 170 2", CHANGES),
    ("staying_in", "traveling to", "Porto", "is staying in Porto for a while", "Faro", CHANGES),
    ("property", "real estate", "a farmhouse", "has this property: a farmhouse", "a barn", BESIDE),
    ("commute", "way to work", "by bike", "gets to work like this: by bike", "by train", CHANGES),
    ("works_at", "employer", "Acme", "works at Acme", "Initech", CHANGES),
    ("occupation", "Job Title", "architect", "works as architect", "consultant", CHANGES),
    ("occupation_history", "previous job", "a waiter", "has worked as a waiter", "a cook", BESIDE),
    ("team", "department", "Platform", "is on the team Platform", "Search", CHANGES),
    ("manager", "reports to", "Priya", "reports to Priya", "Tom", CHANGES),
    ("working_on", "current project", "the barn", "is working on the barn", "the greenhouse", BESIDE),
    ("side_projects", "side project", "a zine", "has this side project: a zine", "a podcast", BESIDE),
    ("relationship", "relation to user", "close friend", "Joe is the user's close friend", "recruiter", STAYS),
    ("relationship_status", "marital status", "married", "has the relationship status married", "divorced", CHANGES),
    ("family_status", "family", "two children", "has this family: two children", "three children", CHANGES),
    ("partner", "married to", "Diana", "is together with Diana", "Elena", CHANGES),
    ("child", "kids", "Mateo", "has children: Mateo", "Sofia", BESIDE),
    ("pet", "dog", "Rex", "has the pet Rex", "Milo", BESIDE),
    ("knows", "friends with", "Joe", "knows Joe", "Ana", BESIDE),
    ("emergency_contact", "ICE contact", "Ana", "wants Ana to be called in an emergency", "Joe", ASKED),
    ("likes", "is fond of", "tea", "likes tea", "coffee", BESIDE),
    ("dislikes", "can't stand", "tea", "dislikes tea", "coffee", BESIDE),
    ("hobbies", "hobby", "hiking", "spends free time on hiking", "cooking", BESIDE),
    ("diet", "dietary preference", "vegan", "keeps to this diet: vegan", "flexitarian", CHANGES),
    ("schedule", "daily routine", "meditates at sunrise", "has this routine: meditates at sunrise", "runs", BESIDE),
    ("motivations", "cares about", "affordable housing", "cares about affordable housing", "his kids", BESIDE),
    ("goal", "wants to", "learn Thai", "has this goal: learn Thai", "run a marathon", BESIDE),
    ("plans_to", "plans", "visit Rome", "has this plan: visit Rome", "paint the barn", BESIDE),
    ("avoids", "does not eat", "pork", "avoids pork", "alcohol", BESIDE),
    ("mood", "feeling", "calm", "feels calm", "tired", CHANGES),
    ("communication_style", "way of speaking", "dry", "communicates like this: dry", "open", BESIDE),
    ("tech_preferences", "tech preference", "no apps", "uses technology like this: no apps", "video", BESIDE),
    ("owns", "drives", "a van", "owns a van", "a canoe", BESIDE),
    ("clothing_size", "shoe size", "42", "wears the size 42", "M", BESIDE),
    ("instruction", "from now on", "be brief", "wants this from now on: be brief", "use bullets", BESIDE),
    ("prefers", "preferences", "weekly reports", "prefers weekly reports", "mornings", BESIDE),
    ("reply_language", "answer in", "German", "wants answers in German", "English", CHANGES),
    ("answer_style", "tone", "short", "wants answers like this: short", "with sources", BESIDE),
    ("units", "unit system", "metric", "wants metric units", "imperial", CHANGES),
    ("preferred_language", "favourite language", "Python", "prefers the language Python", "Rust", BESIDE),
    ("programming_language", "codes in", "Python", "writes code in Python", "Go", BESIDE),
    ("stack", "tech stack", "Postgres", "builds with Postgres", "Redis", BESIDE),
    ("editor", "IDE", "Vim", "edits code in Vim", "Helix", CHANGES),
    ("operating_system", "OS", "Debian", "uses the operating system Debian", "Fedora", CHANGES),
    ("shell", "terminal", "fish", "uses the shell fish", "zsh", CHANGES),
    ("package_manager", "dependency manager", "uv", "manages packages with uv", "pip", CHANGES),
    ("repository", "repo", "acme/app", "keeps code in acme/app", "acme/web", BESIDE),
    ("repository_convention", "conventions", "squash", "follows this convention: squash", "rebase", BESIDE),
    ("code_style", "coding style", "small functions", "wants code written like this: small functions", "typed", BESIDE),
    ("formatter", "code formatter", "ruff", "formats code with ruff", "black", CHANGES),
    ("linter", "linters", "ruff", "lints with ruff", "mypy", BESIDE),
    ("test_command", "run tests with", "pytest", "runs its tests with pytest", "tox", CHANGES),
    ("build_command", "builds with", "make", "is built with make", "just", CHANGES),
    ("testing", "test style", "no mocks", "wants tests like this: no mocks", "fast", BESIDE),
    ("reviews", "code review", "two people", "wants reviews like this: two people", "same day", BESIDE),
    ("commit_style", "commit messages", "imperative", "wants commits like this: imperative", "small", BESIDE),
    ("default_branch", "main branch", "main", "has the default branch main", "trunk", CHANGES),
    ("branch_naming", "branch prefix", "feat/", "names branches like feat/", "fix/", CHANGES),
    ("deploys_to", "deployment target", "Fly", "deploys to Fly", "AWS", CHANGES),
    ("deploy_rule", "release rule", "never on Friday", "deploys by this rule: never on Friday", "canary", BESIDE),
    ("version", "current version", "3.12", "is at version 3.12", "3.13", CHANGES),
    ("owned_by", "maintainer", "Ana", "is owned by Ana", "Tom", CHANGES),
    ("architecture_decision", "ADR", "one file", "has decided this: one file", "no ORM", BESIDE),
    ("allergy", "allergic to", "penicillin", "is allergic to penicillin", "nuts", BESIDE),
    ("medication", "medicine", "vitamin D", "takes vitamin D", "B12", BESIDE),
    ("health", "medical condition", "migraine", "has this health matter: migraine", "asthma", BESIDE),
    ("blood_type", "blood group", "0+", "has the blood type 0+", "A+", ASKED),
    ("income", "salary", "90k", "earns 90k", "95k", STAYS),
    ("finances", "debts", "a loan", "has this money matter: a loan", "savings", BESIDE),
    ("bank_account", "IBAN", "DE00", "has the bank account DE00", "DE11", ASKED),
    ("legal_commitment", "contract", "the lease", "is bound by the lease", "an NDA", ASKED),
    ("legal_matter", "court case", "a claim", "has this legal matter: a claim", "a suit", ASKED),
    ("plan_tier", "subscription", "pro", "is on the plan pro", "free", CHANGES),
    ("entitlement", "discount", "10 %", "is entitled to 10 %", "priority support", BESIDE),
    ("ethnicity", "ethnic background", "Puerto Rican", "has the ethnicity Puerto Rican", "American", ASKED),
    ("religion", "faith", "Buddhist", "has the religion Buddhist", "none", ASKED),
    ("political_views", "politics", "green", "has these political views: green", "activist", BESIDE),
    ("sexual_orientation", "sexuality", "gay", "has the sexual orientation gay", "bi", ASKED),
    ("gender", "gender identity", "woman", "has the gender woman", "nonbinary", ASKED),
    ("nationality", "citizenship", "Portuguese", "has the nationality Portuguese", "German", ASKED),
    ("union_membership", "trade union", "IG Metall", "is a member of the union IG Metall", "ver.di", ASKED),
    ("credential", "API key", "abc", "has the credential abc", "def", BESIDE),
]
BY_NAME = {name: (name, *rest) for name, *rest in EXPECTED}


def states(attribute: str, *said: tuple[str, Source]) -> dict[str, State]:
    """The state of each value after they were said one after another, an hour apart."""
    rows = []
    for number, (value, source) in enumerate(said):
        at = MORNING + timedelta(hours=number)
        observation = Observation(
            id=f"o{number}",
            act=Act.ASSERT,
            subject="user",
            attribute=attribute,
            value=value,
            kind=Kind.SEMANTIC,
            source=source,
            confidence=0.4,
            said_at=at,
            position=Position(micros(at), number, "s"),
        )
        rows.append(Row(observation))
    folded = fold_slot(rows, POLICY, b"owner")
    beliefs = view(folded.cells, POLICY, MORNING + timedelta(hours=len(said))).beliefs
    return {belief.value: belief.state for belief in beliefs}


@pytest.mark.parametrize("attribute", POLICY.attributes.values(), ids=lambda a: a.name)
def test_every_attribute_is_described_here(attribute: Attribute) -> None:
    """Issue 2: the shipped attributes, each with a test."""
    assert attribute.name in BY_NAME


@pytest.mark.parametrize(("name", "alias"), [(name, alias) for name, alias, *_ in EXPECTED])
def test_the_attribute_goes_by_its_other_names(name: str, alias: str) -> None:
    """Issue 2: attribute names fold (`lives_in`, `home_city`, `resides in`)."""
    assert POLICY.canonical(alias) == name
    assert POLICY.attribute(f" {alias.replace(' ', '-')} ") is POLICY.attribute(name.replace("_", " ").upper())


@pytest.mark.parametrize(("name", "value", "sentence"), [(row[0], row[2], row[3]) for row in EXPECTED])
def test_a_belief_reads_as_a_sentence(name: str, value: str, sentence: str) -> None:
    """API: the policy's phrase makes the text of a belief."""
    subject = "Joe" if name == "relationship" else "user"

    assert POLICY.phrase(subject, name, value) == sentence
    assert POLICY.phrase("Ana", name, value).startswith("Ana ")


@pytest.mark.parametrize(("name", "first", "second", "becomes"), [(r[0], r[2], r[4], r[5]) for r in EXPECTED])
def test_a_second_value_does_what_the_table_says(name: str, first: str, second: str, becomes: str) -> None:
    """Design: the conflict table, written down."""
    then_quoted = states(name, (first, Source.STATED), (second, Source.QUOTED))
    only_quoted = states(name, (first, Source.QUOTED))

    assert then_quoted[first] is (State.SUPERSEDED if becomes is CHANGES else State.ACTIVE)
    assert then_quoted[second] is (State.PENDING if becomes in (STAYS, ASKED) else State.ACTIVE)
    assert only_quoted[first] is (State.PENDING if becomes is ASKED else State.ACTIVE)


@pytest.mark.parametrize(("name", "first", "second"), [(r[0], r[2], r[4]) for r in EXPECTED])
def test_no_inference_stands_beside_what_was_stated(name: str, first: str, second: str) -> None:
    """Design: the Joe guarantee, for every attribute that ships."""
    held = states(name, (first, Source.STATED), (second, Source.INFERRED))

    assert held == {first: State.ACTIVE, second: State.PENDING}


@pytest.mark.parametrize("attribute", POLICY.attributes.values(), ids=lambda a: a.name)
def test_the_attribute_is_ready_to_be_used(attribute: Attribute) -> None:
    """Ours: a legal merge rule, a phrase, a question where one may be asked, a class that exists."""
    askable = not (attribute.authority or attribute.admission == "drop")

    assert attribute.known
    assert attribute.merge in MERGES[attribute.cardinality]
    assert attribute.phrase is not None
    assert (attribute.question is not None) == askable
    assert attribute.sensitivity is None or attribute.sensitivity in POLICY.sensitivities


@pytest.mark.parametrize("attribute", POLICY.attributes.values(), ids=lambda a: a.name)
def test_the_attribute_is_explained_in_words(attribute: Attribute) -> None:
    """Issue 2: `firsthand policy explain ATTRIBUTE`."""
    lines = POLICY.explain(attribute.name)

    assert lines[0].startswith(f"{attribute.name}: reads ")
    assert all(line.endswith(".") for line in lines)
    assert (attribute.sensitivity is not None) == any(line.startswith("Sensitive") for line in lines)


def test_the_persona_of_cri_has_an_attribute_for_each_of_its_dimensions() -> None:
    """Issue 2: the attributes that CRI needs."""
    dimensions = (
        "name age family_status ethnicity occupation occupation_history hobbies diet health side_projects city property"
        " commute schedule motivations political_views communication_style tech_preferences relationship_status"
    )
    assert [name for name in dimensions.split() if not POLICY.attribute(name).known] == []


def test_a_relationship_is_one_and_ranked() -> None:
    """Issue 2: `relationship` is one, ranked."""
    relationship = POLICY.attribute("relationship")

    assert (relationship.cardinality, relationship.merge) == ("one", "ranked")


def test_liking_and_disliking_are_opposites() -> None:
    """Design: the policy declares opposites."""
    assert POLICY.attribute("likes").opposite == "dislikes"
    assert POLICY.attribute("dislikes").opposite == "likes"


def test_ways_of_doing_things_are_procedural() -> None:
    """Design: procedural memory is how this user wants things done."""
    names = ("instruction", "prefers", "reply_language", "code_style", "reviews", "commit_style")

    assert {POLICY.attribute(name).kind for name in names} == {Kind.PROCEDURAL}


def test_an_allergy_is_in_every_context() -> None:
    """Ours: what could hurt the person is never left to a search."""
    assert POLICY.attribute("allergy").profile


def test_nothing_forbidden_is_in_the_profile() -> None:
    """Ours: protected traits, money and law are not brought up unasked."""
    for attribute in POLICY.attributes.values():
        assert not (attribute.profile and attribute.sensitivity not in (None, "health"))


def test_all_classes_are_there_and_closed_to_inference() -> None:
    """Issue 2: six sensitive classes, none of which is entered from inference; credentials never."""
    assert tuple(POLICY.sensitivities) == CLASSES
    assert {rule.admits[Source.INFERRED] for rule in POLICY.sensitivities.values()} == {"drop"}
    assert set(POLICY.sensitivities["credential"].admits.values()) == {"drop"}


TOLD = {
    "health": [
        "I am allergic to nuts", "was diagnosed with ADHD", "Diabetes type 2", "ich bin schwanger", "soy alérgico",
        "у меня аллергия", "我对青霉素过敏", "a\u00adllergic to nuts", "medical condition", "al\u0301ergic or allergic",
    ],
    "finance": ["my salary is 90k", "has a mortgage", "I'm in debt", "mein Gehalt", "ипотека", "年収は"],
    "legal": ["signed a contract with Acme", "under NDA", "shared custody", "got sued"],
    "entitlement": ["is entitled to a refund", "on the premium plan", "has admin rights"],
    "credential": ["the password is long", "el pin is 1", "密码是"],
    "protected": ["is a Muslim", "voted for them", "came out as gay", "православный"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TOLD.items() for text in texts])
def test_free_text_is_classified_by_its_words(name: str, text: str) -> None:
    """Design: sensitive matters are found in free text as well, in several languages."""
    assert name in POLICY.classes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Prefers weekly reports on Monday",
        "disabled the feature flag",
        "uses the health check endpoint",
        "technical debt in the parser",
        "diagnose the bug before lunch",
        "lives in Lisbon and works at Deutsche Bank",
        "an undocumented API",
        "Christian reviews the code",
        "race condition in the worker",
        "the agenda for Monday",
        "the token count",
        "has a panda sticker",
        "",
    ],
)
def test_ordinary_words_belong_to_no_class(text: str) -> None:
    """Ours: engineers speak of debt, disabled flags and races as well."""
    assert POLICY.classes_of(text) == ()


def test_the_shipped_file_passes_its_own_check() -> None:
    """Issue 2: `policy check` on what `policy show` prints."""
    again = parse(POLICY.text)

    assert again == POLICY
    assert re.fullmatch("[0-9a-f]{64}", again.digest)
    assert again.digest == POLICY.digest


def test_names_of_the_shipped_file_are_folded_already() -> None:
    """Ours: one spelling for each attribute."""
    assert all(fold_name(name) == name == attribute.name for name, attribute in POLICY.attributes.items())
