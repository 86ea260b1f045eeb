"""What plain statements and requests are read as: the forms that the design names, with the exact claim of each.

Lines are written as `writer_talk.line` writes them; everything was said on Wednesday, 11 June 2025.
"""

from __future__ import annotations

import pytest
from writer_talk import rules, told, turn

from firsthand.policy import default_policy

STATEMENTS: dict[str, list[str]] = {
    # where somebody lives
    "I live in Berlin.": ["user.lives_in = Berlin"],
    "We live in New York and it's diverse.": ["user.lives_in = New York"],
    "My wife and I live in Boston.": ["user.lives_in = Boston"],
    "i live in new york": ["user.lives_in = new york"],
    "I'm based in St. Louis, Missouri.": ["user.lives_in = St. Louis, Missouri"],
    "Hi! I currently live in Austin, Texas with my dog.": ["user.lives_in = Austin, Texas"],
    "I've been living in Harajuku for 3 months now.": ["user.lives_in = Harajuku since 2025-03-01"],
    "I've lived in Porto since March 2021.": ["user.lives_in = Porto since 2021-03-01"],
    "I live in a farmhouse in Vermont.": ["user.lives_in = Vermont"],
    "As I said, I live in Oslo.": ["user.lives_in = Oslo"],
    "By the way, I live in Oslo, can you suggest a museum?": ["user.lives_in = Oslo"],
    "Since I live in Oslo, what should I wear?": ["user.lives_in = Oslo"],
    "I live in Berlin until September.": ["user.lives_in = Berlin until 2025-09-01"],
    "I live in the Netherlands.": ["user.lives_in = Netherlands"],
    "I moved to Berlin last March.": ["user.lives_in = Berlin since 2025-03-01"],
    "I just moved to Madrid from London.": ["user.lives_in = Madrid"],
    "I moved from London to Madrid two weeks ago.": ["user.lives_in = Madrid since 2025-05-26"],
    "We've moved to Austin.": ["user.lives_in = Austin"],
    "In 2019 I moved to Berlin.": ["user.lives_in = Berlin since 2019-01-01"],
    "Last month, we relocated back to Chile.": ["user.lives_in = Chile since 2025-05-01"],
    "I'm moving to Lisbon in September.": ["user.lives_in = Lisbon since 2025-09-01"],
    "We're moving to Austin next month.": ["user.lives_in = Austin since 2025-07-01"],
    "I'll be moving to Zurich on 3 August.": ["user.lives_in = Zurich since 2025-08-03"],
    "I used to live in Rome.": ["end user.lives_in = Rome"],
    "I don't live in Berlin any more.": ["end user.lives_in = Berlin"],
    "I no longer live in Berlin.": ["end user.lives_in = Berlin"],
    "I moved away from Oslo in 2020.": ["end user.lives_in = Oslo since 2020-01-01"],
    "I lived in Rome from 2010 to 2015.": ["user.lives_in = Rome since 2010-01-01 until 2016-01-01"],
    "I lived in Rome from 2019 to May this year.": [],
    "I worked at Nokia from March 2019 to May 2021.": ["user.works_at = Nokia since 2019-03-01 until 2021-06-01"],
    "I'm from Spain.": ["user.hometown = Spain"],
    "I grew up in Cork.": ["user.hometown = Cork"],
    "I'm originally from India.": ["user.hometown = India"],
    # work
    "I work at Acme.": ["user.works_at = Acme"],
    "I work for Siemens as a nurse.": ["user.works_at = Siemens"],
    "I work in Applied AI at Anthropic.": ["user.works_at = Anthropic"],
    "I've been working at NovaTech for about 4 years.": ["user.works_at = NovaTech since 2021-01-01"],
    "I'm a software engineer at Google.": ["user.occupation = software engineer", "user.works_at = Google"],
    "I'm an architect and I can't fix a toilet.": ["user.occupation = architect"],
    "I'm a nurse.": ["user.occupation = nurse"],
    "I've been a teacher for 12 years.": ["user.occupation = teacher since 2013-01-01"],
    "I work as a freelance translator.": ["user.occupation = freelance translator"],
    "My job is teacher.": ["user.occupation = teacher"],
    "I became a manager at Acme last week.": [
        "user.occupation = manager since 2025-06-02",
        "user.works_at = Acme since 2025-06-02",
    ],
    "I joined Acme as a data scientist in May.": [
        "user.works_at = Acme since 2025-05-01",
        "user.occupation = data scientist since 2025-05-01",
    ],
    "I started at Acme last month.": ["user.works_at = Acme since 2025-05-01"],
    "I got a new job at Initech.": ["user.works_at = Initech"],
    "I'm starting at Acme next Monday.": ["user.works_at = Acme since 2025-06-16"],
    "I left Acme two weeks ago.": ["end user.works_at = Acme since 2025-05-26"],
    "I left my job at Acme.": ["end user.works_at = Acme"],
    "I resigned from Acme.": ["end user.works_at = Acme"],
    "I never told you: I left Acme.": ["end user.works_at = Acme"],
    "I haven't mentioned it yet, I left Acme.": ["end user.works_at = Acme"],
    "I forgot to tell you that I left Acme last week.": ["end user.works_at = Acme since 2025-06-02"],
    "I should mention, I work at Initech.": ["user.works_at = Initech"],
    "I was laid off from Initech in May.": ["end user.works_at = Initech since 2025-05-01"],
    "I don't work at Acme any more.": ["end user.works_at = Acme"],
    "I quit my job yesterday.": ["end user.works_at since 2025-06-10"],
    "I got fired.": ["end user.works_at"],
    # names
    "My name is Li Ming.": ["user.name = Li Ming"],
    "my name is bob": ["user.name = bob"],
    "Hi, I'm Marcus.": ["user.name = Marcus"],
    "I'm Marcus, by the way.": ["user.name = Marcus"],
    "Hello, this is Ana.": ["user.name = Ana"],
    "Call me Al.": ["user.preferred_name = Al [stated]"],
    'Please call me "Al".': ["user.preferred_name = Al [stated]"],
    "You can call me Dr. Lee.": ["user.preferred_name = Dr. Lee [stated]"],
    "I go by Sam.": ["user.preferred_name = Sam"],
    "My friends call me Bo.": ["user.preferred_name = Bo"],
    "Don't call me Al.": ["end user.preferred_name = Al [stated]"],
    "My pronouns are they/them.": ["user.pronouns = they/them"],
    # how to reach somebody
    "My email is a.b@c.org.": ["user.email = a.b@c.org"],
    "You can reach me at a.b@c.org.": ["user.email = a.b@c.org"],
    "My phone number is +49 30 1234567.": ["user.phone = +49 30 1234567"],
    "My shipping address is 12 Main St., Springfield, IL 62704.": [
        "user.shipping_address = 12 Main St., Springfield, IL 62704"
    ],
    "My new address is 5 Rue de la Paix, 75002 Paris, please update it.": [
        "user.shipping_address = 5 Rue de la Paix, 75002 Paris"
    ],
    "My timezone is CET.": ["user.timezone = CET"],
    "I'm on Pacific time.": ["user.timezone = Pacific time"],
    "I'm in the Europe/Berlin timezone.": ["user.timezone = Europe/Berlin"],
    # body and table
    "I'm allergic to peanuts.": ["user.allergy = peanuts"],
    "I'm allergic to peanuts and shellfish, can you suggest a snack?": [
        "user.allergy = peanuts",
        "user.allergy = shellfish",
    ],
    "I'm severely allergic to penicillin, peanuts and bee stings.": [
        "user.allergy = penicillin",
        "user.allergy = peanuts",
        "user.allergy = bee stings",
    ],
    "I have a peanut allergy.": ["user.allergy = peanut"],
    "I have a severe allergy to cats.": ["user.allergy = cats"],
    "I'm not allergic to cats.": ["end user.allergy = cats"],
    "I'm vegan.": ["user.diet = vegan"],
    "I'm a vegetarian.": ["user.diet = vegetarian"],
    "I've decided to go fully vegan.": ["user.diet = vegan"],
    "I went vegan in January.": ["user.diet = vegan since 2025-01-01"],
    "I'm mostly vegan.": ["user.diet = mostly vegan"],
    "I'm no longer vegan.": ["end user.diet = vegan"],
    "I'm not a vegetarian.": ["end user.diet = vegetarian"],
    "I'm lactose intolerant.": ["user.health = lactose intolerant"],
    "I have type 1 diabetes.": ["user.health = type 1 diabetes"],
    # tastes
    "I love spicy food.": ["user.likes = spicy food"],
    "I can't stand spicy food any more.": ["user.dislikes = spicy food"],
    "I really love hiking, cooking and jazz.": ["user.likes = hiking", "user.likes = cooking", "user.likes = jazz"],
    "I love fish and chips.": ["user.likes = fish and chips"],
    "I love hiking but I hate running.": ["user.likes = hiking", "user.dislikes = running"],
    "I love hiking and hate running.": ["user.likes = hiking", "user.dislikes = running"],
    "I don't like cilantro.": ["user.dislikes = cilantro"],
    "I'm not a fan of horror movies.": ["user.dislikes = horror movies"],
    "I'm a huge fan of the Beatles.": ["user.likes = the Beatles"],
    "I used to love sushi.": ["end user.likes = sushi"],
    "I no longer like sushi.": ["end user.likes = sushi"],
    "I prefer tea over coffee.": ["user.prefers = tea over coffee"],
    "My favorite color is blue.": ["user.likes = blue"],
    "My hobbies are chess and climbing.": ["user.hobbies = chess", "user.hobbies = climbing"],
    "I'm into historical fiction right now.": ["user.likes = historical fiction"],
    # the rest of a person
    "I'm 41.": ["user.age = 41"],
    "I just turned 32.": ["user.age = 32"],
    "I'm 32 years old, so no.": ["user.age = 32"],
    "My birthday is on 3 May.": ["user.birthday = 3 May"],
    "My birthday is May 3rd, 1990.": ["user.birthday = May 3rd, 1990"],
    "I was born on the 3rd of May.": ["user.birthday = 3rd of May"],
    "I speak German and French.": ["user.speaks = German", "user.speaks = French"],
    "I'm fluent in Dutch.": ["user.speaks = Dutch"],
    "I'm married.": ["user.relationship_status = married"],
    "I got divorced last year.": ["user.relationship_status = divorced since 2024-01-01"],
    "I graduated from MIT.": ["user.education = MIT"],
    "I have a master's degree in physics.": ["user.education = master's degree in physics"],
    "I use Neovim.": ["user.editor = Neovim"],
    "I mostly code in Rust.": ["user.programming_language = Rust"],
    "I'm on Linux.": ["user.operating_system = Linux"],
    "My emergency contact is my sister Ana.": ["Ana.relationship = sister", "user.emergency_contact = Ana"],
    # people
    "My sister Ana is a nurse.": ["Ana.relationship = sister", "Ana.occupation = nurse"],
    "What should I get my sister Ana for her birthday?": ["Ana.relationship = sister"],
    "My friend Joe works in Applied AI at Anthropic.": ["Joe.relationship = friend", "Joe.works_at = Anthropic"],
    "Joe is a close friend of mine.": ["Joe.relationship = close friend"],
    "Joe is my best friend.": ["Joe.relationship = best friend"],
    "My boss is Karen.": ["Karen.relationship = boss", "user.manager = Karen"],
    "My cat's name is Luna.": ["Luna.relationship = cat", "user.pet = Luna"],
    "I have a brother named Tom.": ["Tom.relationship = brother"],
    "My little sister Mia just turned 9.": ["Mia.relationship = sister", "Mia.age = 9"],
    "My kids Mateo and Sofia are here.": [
        "Mateo.relationship = kid",
        "user.child = Mateo",
        "Sofia.relationship = kid",
        "user.child = Sofia",
    ],
    "My wife, Diana, loves jazz.": ["Diana.relationship = wife", "user.partner = Diana", "Diana.likes = jazz"],
    "My 14-year-old son Mateo is allergic to nuts.": [
        "Mateo.relationship = son",
        "user.child = Mateo",
        "Mateo.allergy = nuts",
    ],
    "My colleague Tomas hates football but his father signed him up for training.": [
        "Tomas.relationship = colleague",
        "Tomas.dislikes = football",
    ],
    "My friend Joe moved to Berlin last month.": [
        "Joe.relationship = friend",
        "Joe.lives_in = Berlin since 2025-05-01",
    ],
    "My daughter Sofia is vegan.": ["Sofia.relationship = daughter", "user.child = Sofia", "Sofia.diet = vegan"],
    "Joe isn't my boyfriend any more.": ["end Joe.relationship = boyfriend", "end user.partner = Joe"],
    "My sister-in-law Ana lives in Rome and I live in Oslo.": [
        "Ana.relationship = sister-in-law",
        "Ana.lives_in = Rome",
        "user.lives_in = Oslo",
    ],
    # asked to remember
    "Remember that I'm allergic to penicillin.": ["user.allergy = penicillin [stated]"],
    "Please remember: my name is Li Ming.": ["user.name = Li Ming [stated]"],
    "Don't forget that I live in Oslo.": ["user.lives_in = Oslo [stated]"],
    "Can you remember that I'm vegan?": ["user.diet = vegan [stated]"],
    "Keep in mind I'm vegetarian.": ["user.diet = vegetarian [stated]"],
    "Remember that the gate code is 4711.": ["user = the gate code is 4711 [stated]"],
    "Note that our office is closed on Fridays.": ["user = our office is closed on Fridays [stated]"],
    "Please keep in mind that my flight leaves on 3 July.": ["user = my flight leaves on 3 July [stated]"],
    "Remember that I flew to Paris last week.": ["user = I flew to Paris last week [stated] since 2025-06-02"],
    "Remember I'm allergic to nuts and carry two pens in my green bag.": [
        "user.allergy = nuts [stated]",
        "user = I'm allergic to nuts and carry two pens in my green bag [stated]",
    ],
    "Remember that my friend Joe hates flying.": [
        "Joe.relationship = friend [stated]",
        "Joe.dislikes = flying [stated]",
    ],
    "I'm allergic to nuts. Please remember that.": ["user.allergy = nuts [stated]"],
    "The gate code is 4711. Remember that!": ["user = The gate code is 4711 [stated]"],
    # how things are to be done
    "From now on, answer in German.": ["user.reply_language = German [stated]"],
    "From now on call me Al.": ["user.preferred_name = Al [stated]"],
    "Answer in bullet points from now on.": ["user.instruction = Answer in bullet points [stated]"],
    "Going forward, please don't use emojis.": ["user.instruction = please don't use emojis [stated]"],
    "Always answer in metric units.": ["user.instruction = Always answer in metric units"],
    "Never use emojis when you write to me.": ["user.instruction = Never use emojis when you write to me"],
    "When you cite numbers, always give the source.": [
        "user.instruction = When you cite numbers, always give the source"
    ],
    "I want you to always show the code first.": ["user.instruction = always show the code first"],
    "Please don't use emojis in your answers.": ["user.instruction = don't use emojis in your answers"],
    "Keep your answers short and simple.": ["user.instruction = Keep your answers short and simple"],
    # said in other words
    "I did it. I just resigned.": ["end user.works_at"],
    "I left the firm last month.": ["end user.works_at since 2025-05-01"],
    "Hi I'm Jordan, a nurse from Ohio.": ["user.name = Jordan"],
    "Hi, my name's Ana and I'm a nurse at St. Mary's Hospital in Leeds.": [
        "user.name = Ana",
        "user.occupation = nurse",
        "user.works_at = St. Mary's Hospital",
    ],
    "I work at McKinsey & Company.": ["user.works_at = McKinsey & Company"],
    "I live in Texas now but I grew up in Ohio.": ["user.lives_in = Texas", "user.hometown = Ohio"],
    "My brother Tom and I live in Boston.": ["Tom.relationship = brother", "user.lives_in = Boston"],
    "My son Max is 9 and loves trains.": [
        "Max.relationship = son",
        "user.child = Max",
        "Max.age = 9",
        "Max.likes = trains",
    ],
    # work in more detail, things, plans, medicine
    "I work as a florist in Delft.": ["user.occupation = florist"],
    "I report to Farouk.": ["user.manager = Farouk"],
    "I'm on the payments team.": ["user.team = payments"],
    "I work in the sales department.": ["user.team = sales"],
    "I'm working on a book about bridges.": ["user.working_on = a book about bridges"],
    "My goal is to run a marathon.": ["user.goal = run a marathon"],
    "We're planning to move to Cork next year.": ["user.plans_to = move to Cork"],
    "I drive a Skoda.": ["user.owns = Skoda"],
    "I sold the Skoda last week.": ["end user.owns = Skoda since 2025-06-02"],
    "I take metformin every morning.": ["user.medication = metformin"],
    "I stopped taking metformin.": ["end user.medication = metformin"],
    "I'm allergic to shellfish and to latex.": ["user.allergy = shellfish", "user.allergy = latex"],
    "I'm not allergic to eggs after all.": ["end user.allergy = eggs"],
    "I've stopped eating vegan.": ["end user.diet = vegan"],
    "My dog Pippin died on Sunday.": [
        "end Pippin.relationship since 2025-06-08",
        "end user.pet = Pippin since 2025-06-08",
    ],
    "We had to put our cat Tom to sleep.": ["end Tom.relationship", "end user.pet = Tom"],
    "My grandma Rosa passed away last year.": ["end Rosa.relationship since 2024-01-01"],
    "My kids are Tom and Mia.": [
        "Tom.relationship = kid",
        "user.child = Tom",
        "Mia.relationship = kid",
        "user.child = Mia",
    ],
    "I like Thai, Indian and Korean food.": [
        "user.likes = Thai food",
        "user.likes = Indian food",
        "user.likes = Korean food",
    ],
    "I love French and Italian cinema.": ["user.likes = French cinema", "user.likes = Italian cinema"],
    "I like rock, jazz and soul music.": ["user.likes = rock, jazz and soul music"],
    "I like apples, pears and Korean food.": ["user.likes = apples", "user.likes = pears", "user.likes = Korean food"],
    "i live in tokyo and work at sony": ["user.lives_in = tokyo", "user.works_at = sony"],
    "I don't drink alcohol.": ["user.avoids = alcohol"],
    "I don't eat pork or shellfish, by the way.": ["user.avoids = pork", "user.avoids = shellfish"],
    "I stopped eating meat in March.": ["user.avoids = meat since 2025-03-01"],
    "I eat fish again.": ["end user.avoids = fish"],
    "Please always text me first.": ["user.instruction = always text me first"],
    "I drive a Toyota Corolla.": ["user.owns = Toyota Corolla"],
    "Please send it to my new address: 14 Rosemary Lane, Bath BA1 5NE": [
        "user.shipping_address = 14 Rosemary Lane, Bath BA1 5NE"
    ],
    "my fave food is ramen": ["user.likes = ramen"],
    "We just adopted a greyhound called Comet!": ["Comet.relationship = greyhound", "user.pet = Comet"],
    "I'm married with three kids.": ["user.relationship_status = married"],
    "I'm lactose intolerant, can I eat this?": ["user.health = lactose intolerant"],
    "I'm 17, is that old enough?": ["user.age = 17"],
    "I turned 65 in March, finally retired.": ["user.age = 65"],
    "I got divorced in 2020.": ["user.relationship_status = divorced since 2020-01-01"],
    "I drive a beat-up Honda Civic.": ["user.owns = Honda Civic"],
    "Remember: never call me before ten.": ["user.instruction = never call me before ten [stated]"],
    "Please remember that: always use metric units.": ["user.units = metric [stated]"],
    "I'm in PST.": ["user.timezone = PST"],
    "I'm from Ghana originally.": ["user.hometown = Ghana"],
    "I broke up with Daniel last month.": ["end user.partner = Daniel since 2025-05-01"],
    "Daniel and I split up.": ["end user.partner = Daniel"],
    "I used to be a nurse.": ["end user.occupation = nurse"],
    "My daughter Ella is five.": ["Ella.relationship = daughter", "user.child = Ella", "Ella.age = five"],
    "My sister Ana is a nurse, and she lives in Rome.": [
        "Ana.relationship = sister",
        "Ana.occupation = nurse",
        "Ana.lives_in = Rome",
    ],
    "I'm a student at Oxford.": ["user.education = Oxford", "user.occupation = student"],
    "I work for a startup called Acme Robotics.": ["user.works_at = Acme Robotics"],
    "Keep your answers short please": ["user.instruction = Keep your answers short"],
    "Always use bullet points.": ["user.instruction = Always use bullet points"],
    "Starting next Monday I work at Acme.": ["user.works_at = Acme since 2025-06-16"],
    "Tonight I move to Lima.": ["user.lives_in = Lima since 2025-06-11"],
    "Please use metric units.": ["user.units = metric [stated]"],
    "For future reference: our staging cluster is called heron.": [
        "user = our staging cluster is called heron [stated]"
    ],
    "Never call me before ten.": ["user.instruction = Never call me before ten"],
    "Stop apologising in every answer.": ["user.instruction = Stop apologising in every answer"],
    "Always show prices with tax included.": ["user.instruction = Always show prices with tax included"],
    # people without a name: whose they are says who is meant
    "My sister is a nurse.": ["sister.occupation = nurse"],
    "My sister lives in Rome and works for Airbus.": ["sister.lives_in = Rome", "sister.works_at = Airbus"],
    "My little brother is allergic to nuts.": ["little brother.allergy = nuts"],
    "Mum is allergic to penicillin.": ["Mum.allergy = penicillin"],
    "My dad moved to Cork last year.": ["dad.lives_in = Cork since 2024-01-01"],
    "My sister no longer lives in Rome.": ["end sister.lives_in = Rome"],
    "My wife is vegan.": ["wife.diet = vegan"],
    "My son has a peanut allergy.": ["son.allergy = peanut"],
    "Ana, my sister, moved to Turin last week.": [
        "Ana.relationship = sister",
        "Ana.lives_in = Turin since 2025-06-02",
    ],
    "I have two cats, Mochi and Tofu.": [
        "Mochi.relationship = cat",
        "user.pet = Mochi",
        "Tofu.relationship = cat",
        "user.pet = Tofu",
    ],
    "My dog Rex is 3 years old.": ["Rex.relationship = dog", "user.pet = Rex", "Rex.age = 3"],
    "My friend Will is a nurse.": ["Will.relationship = friend", "Will.occupation = nurse"],
    "My doctor Dr. Lee is kind.": ["Dr. Lee.relationship = doctor"],
    "My mom Linda's birthday is on 3 May.": ["Linda.relationship = mom", "Linda.birthday = 3 May"],
    "Ana is my sister and she is a nurse.": ["Ana.relationship = sister", "Ana.occupation = nurse"],
    "We have a dog named Rex.": ["Rex.relationship = dog", "user.pet = Rex"],
    "I have a friend called Joe who is a nurse.": ["Joe.relationship = friend"],
    "I've been vegan since 2019.": ["user.diet = vegan since 2019-01-01"],
    "I like cats, dogs and birds, but hate snakes.": [
        "user.likes = cats",
        "user.likes = dogs",
        "user.likes = birds",
        "user.dislikes = snakes",
    ],
    "I like big dogs and small cats.": ["user.likes = big dogs and small cats"],
    "I don't like JavaScript or PHP.": ["user.dislikes = JavaScript", "user.dislikes = PHP"],
    "I prefer dark mode.": ["user.prefers = dark mode"],
    "I'm allergic to both cats and dogs.": ["user.allergy = cats", "user.allergy = dogs"],
    "I'm allergic to peanuts and love almonds.": ["user.allergy = peanuts", "user.likes = almonds"],
    "I'm 30 and live in Rome.": ["user.age = 30", "user.lives_in = Rome"],
    "In future, always use metric.": ["user.instruction = always use metric [stated]"],
    "Please always answer in French.": ["user.reply_language = French"],
    "Use metric units from now on, please.": ["user.units = metric [stated]"],
    "Stop calling me Al.": ["end user.preferred_name = Al [stated]"],
    "Never use emojis, please.": ["user.instruction = Never use emojis"],
    "Remember my birthday is May 3.": ["user.birthday = May 3 [stated]"],
    "Keep in mind that I'm vegan and my wife isn't.": [
        "user.diet = vegan [stated]",
        "user = I'm vegan and my wife isn't [stated]",
    ],
    "Can you note that my sister Ana is vegan?": ["Ana.relationship = sister [stated]", "Ana.diet = vegan [stated]"],
    "Save this: the code is 4711.": ["user = the code is 4711 [stated]"],
    "You know I live in Rome.": ["user.lives_in = Rome"],
    "I'm married to Ana.": ["user.partner = Ana"],
    "I studied physics at MIT.": ["user.education = MIT"],
    "I've worked at Acme since 2020.": ["user.works_at = Acme since 2020-01-01"],
    "I'm originally from Ohio but live in Texas.": ["user.hometown = Ohio", "user.lives_in = Texas"],
    "I just completed my undergraduate degree in computer science.": [
        "user.education = undergraduate degree in computer science"
    ],
    "I work at Trader Joe's.": ["user.works_at = Trader Joe's"],
}


@pytest.mark.parametrize(("text", "claims"), STATEMENTS.items())
def test_a_plain_statement_is_read_as_exactly_its_claims(text: str, claims: list[str]) -> None:
    """Design: rules find explicit statements; the table is ours."""
    assert told(text) == claims


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_value_stands_in_the_words_it_rests_on(text: str) -> None:
    """Design: a quote that does not carry the claim makes it an inference, so rules quote what they say."""
    for found in rules().propose([turn(text)], []):
        quoted = " ".join(text[found.start : found.end].split())
        assert 0 <= found.start < found.end <= len(text)
        if found.value not in ("Thai food", "Indian food", "French cinema"):  # what the last of a list brings for all
            assert found.value is None or found.value in quoted
        assert found.subject == "user" or found.subject in quoted


@pytest.mark.parametrize("text", STATEMENTS)
def test_typographic_apostrophes_change_nothing(text: str) -> None:
    """Ours: telephones write "I’m" with a curly apostrophe."""  # noqa: RUF002 - it is meant
    curly = text.replace("'", "\u2019")
    assert told(curly) == [claim.replace("'", "\u2019") for claim in told(text)]


def test_every_attribute_that_is_set_is_in_the_default_policy() -> None:
    """Ours: the writer speaks the words of the conflict table, so that no claim of its goes to an unruled slot."""
    policy = default_policy()
    named = {p.attribute for text in STATEMENTS for p in rules().propose([turn(text)], []) if p.attribute}
    assert [name for name in sorted(named) if not policy.attribute(name).known] == []
    assert {name for name in named if policy.canonical(name) != name} == set()


def test_claims_name_their_writer_language_and_rule() -> None:
    """Design: an observation says which rule proposed it."""
    assert [p.writer for p in rules().propose([turn("I live in Oslo.")], [])] == ["rules/2:en/lives-in"]
