-- Every query of the PostgreSQL store: its name, what it does, and the statement. The names are those of the embedded
-- store's queries; at the end come those that only a server needs.
--
-- A parameter cast to text[] takes what many sets of values look up; the others are the same in all of them. Every
-- statement on an owner's rows names the tenant and the user, though row-level security would filter by them too: shards
-- and indexes are chosen by what a statement says.

-- name: store
-- The store's own id and secret.
SELECT id, secret FROM firsthand.store;

-- name: found_store
-- Make the one row that says which store this is.
INSERT INTO firsthand.store (id, secret, scrub_due)
VALUES ($1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 0);

-- name: scrub_due
-- Whether removed bytes may still be in the file.
SELECT scrub_due FROM firsthand.store;

-- name: set_scrub_due
-- Say whether removed bytes may still be in the file.
UPDATE firsthand.store SET scrub_due = $1 WHERE scrub_due <> $1;

-- name: migrations
-- Which migrations ran.
SELECT name, least FROM firsthand.migrations ORDER BY name;

-- name: record_migration
-- Remember that a migration ran.
INSERT INTO firsthand.migrations (name, least) VALUES ($1, $2);

-- name: facts
-- What the store knows of itself.
SELECT name, value FROM firsthand.facts ORDER BY name;

-- name: set_fact
-- Add or change one fact.
INSERT INTO firsthand.facts (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: drop_fact
-- Forget one fact.
DELETE FROM firsthand.facts WHERE name = $1;

-- name: owners
-- Everyone who ever wrote and was not erased.
SELECT tenant, user_id FROM firsthand.owners ORDER BY tenant, user_id;

-- name: head
-- The head row of an owner.
SELECT version, epoch, recorded_at, counter FROM firsthand.owners WHERE tenant = $1 AND user_id = $2;

-- name: erased_head
-- The head of an owner who was erased whole.
SELECT version, epoch, recorded_at, counter FROM firsthand.erased_owners WHERE tenant = $1 AND owner = $2;

-- name: set_head
-- Write the head row of an owner.
INSERT INTO firsthand.owners (tenant, user_id, version, epoch, recorded_at, counter) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant, user_id) DO UPDATE SET
    version = excluded.version,
    epoch = excluded.epoch,
    recorded_at = excluded.recorded_at,
    counter = excluded.counter;

-- name: set_erased_head
-- Write the head of an owner who is erased whole.
INSERT INTO firsthand.erased_owners (tenant, owner, version, epoch, recorded_at, counter)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant, owner) DO UPDATE SET
    version = excluded.version,
    epoch = excluded.epoch,
    recorded_at = excluded.recorded_at,
    counter = excluded.counter;

-- name: drop_erased_head
-- An erased owner starts anew.
DELETE FROM firsthand.erased_owners WHERE tenant = $1 AND owner = $2;

-- name: tombstone
-- One of the digests that an erasure left behind.
SELECT digest FROM firsthand.tombstones WHERE tenant = $1 AND owner = $2 AND digest = ANY($3::text[]);

-- name: tombstones
-- All digests that erasures of an owner left behind.
SELECT digest, erased_at FROM firsthand.tombstones WHERE tenant = $1 AND owner = $2 ORDER BY digest;

-- name: lift_tombstone
-- Take back some of them.
DELETE FROM firsthand.tombstones WHERE tenant = $1 AND owner = $2 AND digest = ANY($3::text[]);

-- name: add_tombstone
-- Leave a digest behind.
INSERT INTO firsthand.tombstones (tenant, owner, digest, erased_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, owner, digest) DO UPDATE SET
    erased_at = greatest(firsthand.tombstones.erased_at, excluded.erased_at);

-- name: add_message
-- Append a message.
INSERT INTO firsthand.messages (
    tenant, user_id, recorded_at, counter, store, id, role, name, session, agent, origin, at, at_offset, recalled,
    content, rest, checksum
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17);

-- name: message_exists
-- Whether a message id is taken.
SELECT id FROM firsthand.messages WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: message
-- One message by id, where the filters let it through.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[])
    AND ($4::text IS NULL OR session = $4) AND ($5::text IS NULL OR agent = $5) AND ($6::text IS NULL OR origin = $6)
    AND at >= $7 AND at < $8 AND (recorded_at, counter, store) > ($9, $10, $11);

-- name: messages_oldest_first
-- Messages in ledger order.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2
    AND ($3::text IS NULL OR session = $3) AND ($4::text IS NULL OR agent = $4) AND ($5::text IS NULL OR origin = $5)
    AND at >= $6 AND at < $7 AND (recorded_at, counter, store) > ($8, $9, $10)
ORDER BY recorded_at, counter, store LIMIT nullif($11, -1);

-- name: messages_newest_first
-- Messages in ledger order, backwards.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2
    AND ($3::text IS NULL OR session = $3) AND ($4::text IS NULL OR agent = $4) AND ($5::text IS NULL OR origin = $5)
    AND at >= $6 AND at < $7 AND (recorded_at, counter, store) > ($8, $9, $10)
ORDER BY recorded_at DESC, counter DESC, store DESC LIMIT nullif($11, -1);

-- name: session_oldest_first
-- Messages of one session in ledger order.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2 AND session = $3
    AND ($4::text IS NULL OR agent = $4) AND ($5::text IS NULL OR origin = $5)
    AND at >= $6 AND at < $7 AND (recorded_at, counter, store) > ($8, $9, $10)
ORDER BY recorded_at, counter, store LIMIT nullif($11, -1);

-- name: session_newest_first
-- Messages of one session in ledger order, backwards.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2 AND session = $3
    AND ($4::text IS NULL OR agent = $4) AND ($5::text IS NULL OR origin = $5)
    AND at >= $6 AND at < $7 AND (recorded_at, counter, store) > ($8, $9, $10)
ORDER BY recorded_at DESC, counter DESC, store DESC LIMIT nullif($11, -1);

-- name: sessions
-- Every session with its size and span, by its first message.
SELECT session, count(*), min(at), max(at)
FROM firsthand.messages
WHERE tenant = $1 AND user_id = $2
GROUP BY session
ORDER BY min(recorded_at), min(counter), session NULLS FIRST;

-- name: retractions
-- Every standing act that takes back a message, in ledger order.
SELECT taken_back, body
FROM firsthand.observations
WHERE tenant = $1 AND user_id = $2 AND taken_back IS NOT NULL
ORDER BY recorded_at, counter, store;

-- name: retractions_of
-- Standing acts that take back one message, in ledger order.
SELECT taken_back, body
FROM firsthand.observations
WHERE tenant = $1 AND user_id = $2 AND taken_back = ANY($3::text[])
ORDER BY recorded_at, counter, store;

-- name: add_observation
-- Append an observation.
INSERT INTO firsthand.observations (
    tenant, user_id, recorded_at, counter, store, id, taken_back, level, body, checksum
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: add_evidence
-- Tie an observation to a message.
INSERT INTO firsthand.evidence (tenant, user_id, observation_id, place, message_id, span_start, span_end)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: observation_exists
-- Whether an observation id is taken.
SELECT id FROM firsthand.observations WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: observation
-- One observation by id.
SELECT id, body FROM firsthand.observations WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: rows
-- Observations in ledger order, once for each message they cite, with what the message contributes.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM firsthand.observations AS a
        WHERE a.tenant = $1 AND a.user_id = $2 AND a.taken_back = e.message_id AND a.recorded_at <= $6
    ) AS taken_back
FROM firsthand.observations AS o
LEFT JOIN firsthand.evidence AS e ON e.tenant = $1 AND e.user_id = $2 AND e.observation_id = o.id
LEFT JOIN firsthand.messages AS m ON m.tenant = $1 AND m.user_id = $2 AND m.id = e.message_id AND m.recorded_at <= $6
WHERE o.tenant = $1 AND o.user_id = $2
    AND (o.recorded_at, o.counter, o.store) > ($3, $4, $5) AND o.recorded_at <= $6
ORDER BY o.recorded_at, o.counter, o.store, e.place;

-- name: rows_of_slot
-- The same for the observations placed in a slot, in no order of their own.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM firsthand.observations AS a
        WHERE a.tenant = $1 AND a.user_id = $2 AND a.taken_back = e.message_id AND a.recorded_at <= $4
    ) AS taken_back
FROM (
    SELECT DISTINCT observation_id FROM firsthand.placements WHERE tenant = $1 AND user_id = $2 AND slot = ANY($3::text[])
) AS p
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = p.observation_id AND o.recorded_at <= $4
LEFT JOIN firsthand.evidence AS e ON e.tenant = $1 AND e.user_id = $2 AND e.observation_id = o.id
LEFT JOIN firsthand.messages AS m ON m.tenant = $1 AND m.user_id = $2 AND m.id = e.message_id AND m.recorded_at <= $4
ORDER BY p.observation_id, e.place;

-- name: rows_of_id
-- The same for one observation.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM firsthand.observations AS a
        WHERE a.tenant = $1 AND a.user_id = $2 AND a.taken_back = e.message_id
    ) AS taken_back
FROM firsthand.observations AS o
LEFT JOIN firsthand.evidence AS e ON e.tenant = $1 AND e.user_id = $2 AND e.observation_id = o.id
LEFT JOIN firsthand.messages AS m ON m.tenant = $1 AND m.user_id = $2 AND m.id = e.message_id
WHERE o.tenant = $1 AND o.user_id = $2 AND o.id = ANY($3::text[])
ORDER BY o.id, e.place;

-- name: citing
-- Observations with evidence in one message.
SELECT DISTINCT o.id, o.body
FROM firsthand.evidence AS e
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = e.observation_id
WHERE e.tenant = $1 AND e.user_id = $2 AND e.message_id = ANY($3::text[]);

-- name: cells
-- Cells written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM firsthand.cells
WHERE tenant = $1 AND user_id = $2 AND version > $3;

-- name: cells_of_slot
-- Cells of one slot written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM firsthand.cells
WHERE tenant = $1 AND user_id = $2 AND slot = ANY($3::text[]) AND version > $4;

-- name: cell
-- One cell, where it was written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM firsthand.cells
WHERE tenant = $1 AND user_id = $2 AND (slot, cell) IN (SELECT * FROM unnest($3::text[], $4::text[])) AND version > $5;

-- name: save_cell
-- Add or replace a cell.
INSERT INTO firsthand.cells (tenant, user_id, slot, cell, subject, attribute, state, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant, user_id, slot, cell) DO UPDATE SET
    subject = excluded.subject,
    attribute = excluded.attribute,
    state = excluded.state,
    version = excluded.version;

-- name: drop_gone_cells
-- Remove cells that are gone; only where every cache starts anew.
DELETE FROM firsthand.cells WHERE tenant = $1 AND user_id = $2 AND state = '';

-- name: drop_placements
-- Remove the placements of one observation.
DELETE FROM firsthand.placements WHERE tenant = $1 AND user_id = $2 AND observation_id = ANY($3::text[]);

-- name: add_placement
-- Say where an observation went.
INSERT INTO firsthand.placements (tenant, user_id, observation_id, slot, cell, claim, version)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant, user_id, observation_id, slot, cell, claim) DO UPDATE SET version = excluded.version;

-- name: placements
-- Every placement with its observation, in ledger order.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM firsthand.placements AS p
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = p.observation_id
WHERE p.tenant = $1 AND p.user_id = $2;

-- name: placements_of_observation
-- The placements of one observation.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM firsthand.placements AS p
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = p.observation_id
WHERE p.tenant = $1 AND p.user_id = $2 AND p.observation_id = ANY($3::text[]);

-- name: placements_of_claim
-- The placements in one claim of a slot.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM firsthand.placements AS p
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = p.observation_id
WHERE p.tenant = $1 AND p.user_id = $2 AND (p.slot, p.claim) IN (SELECT * FROM unnest($3::text[], $4::text[]));

-- name: cited
-- Messages cited by observations that were placed after a version, in ledger order.
SELECT p.observation_id, p.slot, p.cell, p.claim, e.message_id
FROM firsthand.placements AS p
JOIN firsthand.observations AS o ON o.tenant = $1 AND o.user_id = $2 AND o.id = p.observation_id
JOIN firsthand.evidence AS e ON e.tenant = $1 AND e.user_id = $2 AND e.observation_id = p.observation_id
WHERE p.tenant = $1 AND p.user_id = $2 AND p.version > $3
ORDER BY o.recorded_at, o.counter, o.store, p.slot, p.cell, p.claim, e.place;

-- name: slots_of_observation
-- The slots in which one observation was placed.
SELECT DISTINCT slot FROM firsthand.placements WHERE tenant = $1 AND user_id = $2 AND observation_id = ANY($3::text[]);

-- name: drop_cells_of_slot
-- Remove the cells of a slot.
DELETE FROM firsthand.cells WHERE tenant = $1 AND user_id = $2 AND slot = ANY($3::text[]);

-- name: put_search_message
-- Add or replace the search rows of messages that exist.
INSERT INTO firsthand.search_messages (
    tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
)
SELECT
    m.tenant, m.user_id, m.recorded_at, m.counter, m.store, m.id, m.session, m.agent, m.role, m.name, m.at,
    m.recalled, given.terms, given.vector
FROM unnest($3::text[], $4::bytea[], $5::bytea[]) AS given (id, terms, vector)
JOIN firsthand.messages AS m ON m.tenant = $1 AND m.user_id = $2 AND m.id = given.id
ON CONFLICT (tenant, user_id, recorded_at, counter, store) DO UPDATE SET
    terms = excluded.terms,
    vector = excluded.vector;

-- name: put_fresh_search_message
-- Add or replace the search row of a message that the same unit of work added.
INSERT INTO firsthand.search_messages (
    tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (tenant, user_id, recorded_at, counter, store) DO UPDATE SET
    terms = excluded.terms,
    vector = excluded.vector;

-- name: put_search_belief
-- Add or replace the search row of a belief.
INSERT INTO firsthand.search_beliefs (tenant, user_id, id, terms, vector) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET terms = excluded.terms, vector = excluded.vector;

-- name: drop_search_message
-- Remove the search row of a message.
DELETE FROM firsthand.search_messages
WHERE tenant = $1 AND user_id = $2 AND (recorded_at, counter, store) IN (
    SELECT m.recorded_at, m.counter, m.store FROM firsthand.messages AS m
    WHERE m.tenant = $1 AND m.user_id = $2 AND m.id = ANY($3::text[])
);

-- name: drop_search_belief
-- Remove the search row of a belief.
DELETE FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: drop_search_beliefs_of_slot
-- Remove the search rows of the beliefs of a slot: those whose id lies between the slot's first and last.
DELETE FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2 AND id >= $3 AND id < $4;

-- name: search_messages
-- Search rows of messages in ledger order.
SELECT id, recorded_at, counter, store, session, agent, role, name, at, terms, vector, recalled
FROM firsthand.search_messages
WHERE tenant = $1 AND user_id = $2 AND (recorded_at, counter, store) > ($3, $4, $5)
ORDER BY recorded_at, counter, store;

-- name: search_beliefs
-- Search rows of beliefs.
SELECT id, terms, vector FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2 ORDER BY id;

-- name: search_belief
-- The search row of one belief.
SELECT id, terms, vector FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]) ORDER BY id;

-- name: forget_message_vectors
-- Take the vectors of messages away.
UPDATE firsthand.search_messages SET vector = NULL WHERE tenant = $1 AND user_id = $2 AND vector IS NOT NULL;

-- name: forget_belief_vectors
-- Take the vectors of beliefs away.
UPDATE firsthand.search_beliefs SET vector = NULL WHERE tenant = $1 AND user_id = $2 AND vector IS NOT NULL;

-- name: due_messages
-- Messages whose search row has no vector, in ledger order.
SELECT m.id, m.content
FROM firsthand.search_messages AS s
JOIN firsthand.messages AS m
    ON m.tenant = $1 AND m.user_id = $2
    AND m.recorded_at = s.recorded_at AND m.counter = s.counter AND m.store = s.store
WHERE s.tenant = $1 AND s.user_id = $2 AND s.vector IS NULL
ORDER BY s.recorded_at, s.counter, s.store LIMIT $3;

-- name: due_beliefs
-- Beliefs whose search row has no vector.
SELECT id FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2 AND vector IS NULL ORDER BY id LIMIT $3;

-- name: receipt
-- What was answered under an idempotency key.
SELECT digest, receipt FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2 AND idempotency_key = $3;

-- name: receipts
-- Every receipt of an owner.
SELECT idempotency_key, receipt FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2;

-- name: add_receipt
-- Remember what was answered under an idempotency key.
INSERT INTO firsthand.receipts (tenant, user_id, idempotency_key, digest, receipt) VALUES ($1, $2, $3, $4, $5);

-- name: drop_receipt
-- Forget an idempotency key.
DELETE FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2 AND idempotency_key = ANY($3::text[]);

-- name: dropped_at
-- How much was dropped at a position.
SELECT count(*) FROM firsthand.dropped
WHERE tenant = $1 AND user_id = $2 AND recorded_at = $3 AND counter = $4 AND store = $5;

-- name: add_dropped
-- Record that something was not let in.
INSERT INTO firsthand.dropped (tenant, user_id, recorded_at, counter, store, place, message_id, reason, rule)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: dropped
-- What was not let in, oldest first.
SELECT recorded_at, counter, store, place, message_id, reason, rule FROM firsthand.dropped
WHERE tenant = $1 AND user_id = $2
ORDER BY recorded_at, counter, store, place;

-- name: dropped_from_message
-- What was not let in from one message.
SELECT recorded_at, counter, store, place, message_id, reason, rule FROM firsthand.dropped
WHERE tenant = $1 AND user_id = $2 AND message_id = ANY($3::text[]);

-- name: add_use
-- Count uses.
INSERT INTO firsthand.uses (tenant, user_id, id, count, last_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET
    count = uses.count + excluded.count,
    last_at = greatest(uses.last_at, excluded.last_at);

-- name: merge_use
-- Take in a use counted elsewhere.
INSERT INTO firsthand.uses (tenant, user_id, id, count, last_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET
    count = greatest(uses.count, excluded.count),
    last_at = greatest(uses.last_at, excluded.last_at);

-- name: uses
-- Every use counted.
SELECT id, count, last_at FROM firsthand.uses WHERE tenant = $1 AND user_id = $2 ORDER BY id;

-- name: cursor
-- How far a model has read a session.
SELECT session, recorded_at, counter, store, due_at, leased_until, holder, failures FROM firsthand.cursors
WHERE tenant = $1 AND user_id = $2 AND session = $3;

-- name: save_cursor
-- Add or replace the cursor of a session.
INSERT INTO firsthand.cursors
    (tenant, user_id, session, recorded_at, counter, store, due_at, leased_until, holder, failures)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant, user_id, session) DO UPDATE SET
    recorded_at = excluded.recorded_at,
    counter = excluded.counter,
    store = excluded.store,
    due_at = excluded.due_at,
    leased_until = excluded.leased_until,
    holder = excluded.holder,
    failures = excluded.failures;

-- name: due_cursors
-- Sessions that a model is to read on by now and that nobody is at, the longest due first.
SELECT session, recorded_at, counter, store, due_at, leased_until, holder, failures FROM firsthand.cursors
WHERE tenant = $1 AND user_id = $2 AND due_at <= $3 AND leased_until <= $3
ORDER BY due_at, session;

-- name: due_owners
-- Owners with such sessions.
SELECT DISTINCT tenant, user_id FROM firsthand.cursors
WHERE due_at IS NOT NULL AND due_at <= $1 AND leased_until <= $1
ORDER BY tenant, user_id;

-- name: add_spending
-- Add to what an owner spent on a day.
INSERT INTO firsthand.spending (tenant, user_id, day, calls, tokens) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant, user_id, day) DO UPDATE SET
    calls = spending.calls + excluded.calls,
    tokens = spending.tokens + excluded.tokens;

-- name: spent
-- What all owners spent on a day.
SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0) FROM firsthand.spending WHERE day = $1;

-- name: erase_message
-- Remove a message.
DELETE FROM firsthand.messages WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: erase_evidence_in_message
-- Remove the ties of observations to a message.
DELETE FROM firsthand.evidence WHERE tenant = $1 AND user_id = $2 AND message_id = ANY($3::text[]);

-- name: erase_dropped_from_message
-- Remove the record of what was dropped from a message.
DELETE FROM firsthand.dropped WHERE tenant = $1 AND user_id = $2 AND message_id = ANY($3::text[]);

-- name: erase_observation
-- Remove an observation.
DELETE FROM firsthand.observations WHERE tenant = $1 AND user_id = $2 AND id = ANY($3::text[]);

-- name: erase_evidence_of_observation
-- Remove the ties of an observation.
DELETE FROM firsthand.evidence WHERE tenant = $1 AND user_id = $2 AND observation_id = ANY($3::text[]);

-- name: erase_use
-- Remove the use counted of an id and of the intervals that resume under it (`id@start`).
DELETE FROM firsthand.uses WHERE tenant = $1 AND user_id = $2 AND (id = $3 OR (id >= $3::text || '@' AND id < $3::text || 'A'));

-- name: set_body
-- Write an observation again without the words that were erased.
UPDATE firsthand.observations SET body = $4, checksum = $5 WHERE tenant = $1 AND user_id = $2 AND id = $3;

-- name: erase_all_messages
-- Everything of an owner, table by table.
DELETE FROM firsthand.messages WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_observations
-- Everything of an owner, table by table.
DELETE FROM firsthand.observations WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_evidence
-- Everything of an owner, table by table.
DELETE FROM firsthand.evidence WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_placements
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM firsthand.placements WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_cells
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM firsthand.cells WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_search_messages
-- Everything of an owner, table by table.
DELETE FROM firsthand.search_messages WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_search_beliefs
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_receipts
-- Everything of an owner, table by table.
DELETE FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_dropped
-- Everything of an owner, table by table.
DELETE FROM firsthand.dropped WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_uses
-- Everything of an owner, table by table.
DELETE FROM firsthand.uses WHERE tenant = $1 AND user_id = $2;

-- name: erase_idle_cursors
-- Cursors of sessions that have no message left.
DELETE FROM firsthand.cursors
WHERE tenant = $1 AND user_id = $2 AND NOT EXISTS (
    SELECT 1 FROM firsthand.messages AS m
    WHERE m.tenant = $1 AND m.user_id = $2 AND m.session IS NOT DISTINCT FROM nullif(cursors.session, '')
);

-- name: erase_all_cursors
-- Everything of an owner, table by table.
DELETE FROM firsthand.cursors WHERE tenant = $1 AND user_id = $2;

-- name: erase_all_spending
-- Everything of an owner, table by table.
DELETE FROM firsthand.spending WHERE tenant = $1 AND user_id = $2;

-- name: erase_owner
-- The head row itself.
DELETE FROM firsthand.owners WHERE tenant = $1 AND user_id = $2;

-- name: rows_left
-- How many rows of an owner are left, over all tables.
SELECT
    (SELECT count(*) FROM firsthand.messages WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.observations WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.evidence WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.placements WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.cells WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.search_messages WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.dropped WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.uses WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.cursors WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.spending WHERE tenant = $1 AND user_id = $2)
    + (SELECT count(*) FROM firsthand.owners WHERE tenant = $1 AND user_id = $2);

-- name: kept_owners
-- The head row of an owner as stored, to be copied.
SELECT tenant, user_id, version, epoch, recorded_at, counter
FROM firsthand.owners WHERE tenant = $1 AND user_id = $2;

-- name: kept_messages
-- Messages of an owner as stored, to be copied.
SELECT
    tenant, user_id, recorded_at, counter, store, id, role, name, session, agent, origin, at, at_offset, recalled,
    content, rest, checksum
FROM firsthand.messages WHERE tenant = $1 AND user_id = $2;

-- name: kept_observations
-- Observations of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, id, taken_back, level, body, checksum
FROM firsthand.observations WHERE tenant = $1 AND user_id = $2;

-- name: kept_evidence
-- Ties of observations to messages of an owner as stored, to be copied.
SELECT tenant, user_id, observation_id, place, message_id, span_start, span_end
FROM firsthand.evidence WHERE tenant = $1 AND user_id = $2;

-- name: kept_placements
-- Placements of an owner as stored, to be copied.
SELECT tenant, user_id, observation_id, slot, cell, claim, version
FROM firsthand.placements WHERE tenant = $1 AND user_id = $2;

-- name: kept_cells
-- Cells of an owner as stored, to be copied.
SELECT tenant, user_id, slot, cell, subject, attribute, state, version
FROM firsthand.cells WHERE tenant = $1 AND user_id = $2;

-- name: kept_search_messages
-- Search rows of messages of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
FROM firsthand.search_messages WHERE tenant = $1 AND user_id = $2;

-- name: kept_search_beliefs
-- Search rows of beliefs of an owner as stored, to be copied.
SELECT tenant, user_id, id, terms, vector
FROM firsthand.search_beliefs WHERE tenant = $1 AND user_id = $2;

-- name: kept_receipts
-- Receipts of an owner as stored, to be copied.
SELECT tenant, user_id, idempotency_key, digest, receipt
FROM firsthand.receipts WHERE tenant = $1 AND user_id = $2;

-- name: kept_dropped
-- What was not let in of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, place, message_id, reason, rule
FROM firsthand.dropped WHERE tenant = $1 AND user_id = $2;

-- name: kept_uses
-- Uses of an owner as stored, to be copied.
SELECT tenant, user_id, id, count, last_at
FROM firsthand.uses WHERE tenant = $1 AND user_id = $2;

-- name: kept_cursors
-- Cursors of an owner as stored, to be copied.
SELECT tenant, user_id, session, recorded_at, counter, store, due_at, leased_until, holder, failures
FROM firsthand.cursors WHERE tenant = $1 AND user_id = $2;

-- name: kept_spending
-- What models were asked for of an owner as stored, to be copied.
SELECT tenant, user_id, day, calls, tokens
FROM firsthand.spending WHERE tenant = $1 AND user_id = $2;

-- name: kept_erased_owners
-- Every head of an owner who was erased whole, to be copied.
SELECT tenant, owner, version, epoch, recorded_at, counter FROM firsthand.erased_owners;

-- name: kept_tombstones
-- Every digest that erasures left behind, to be copied.
SELECT tenant, owner, digest, erased_at FROM firsthand.tombstones;

-- name: drop_erased_heads
-- Forget all that were erased whole, where another store's are taken over.
DELETE FROM firsthand.erased_owners WHERE tenant = $1;

-- name: drop_tombstones
-- Forget all that erasures left behind, where another store's are taken over.
DELETE FROM firsthand.tombstones WHERE tenant = $1;

-- name: set_secret
-- Key what erasures leave behind by the secret of the store that was copied.
UPDATE firsthand.store SET secret = $1;

-- name: stored_messages
-- Every message's text with its checksum, for `check`.
SELECT tenant, user_id, id, content, rest, checksum FROM firsthand.messages;

-- name: stored_observations
-- Every observation's body with its checksum, for `check`.
SELECT tenant, user_id, id, body, checksum FROM firsthand.observations;

-- name: orphans
-- Rows that hang on nothing, by kind.
SELECT 'evidence' AS kind, count(*) FROM firsthand.evidence AS e
WHERE NOT EXISTS (
    SELECT 1 FROM firsthand.observations AS o
    WHERE o.tenant = e.tenant AND o.user_id = e.user_id AND o.id = e.observation_id
)
UNION ALL
SELECT 'placements', count(*) FROM firsthand.placements AS p
WHERE NOT EXISTS (
    SELECT 1 FROM firsthand.observations AS o
    WHERE o.tenant = p.tenant AND o.user_id = p.user_id AND o.id = p.observation_id
)
UNION ALL
SELECT 'search rows', count(*) FROM firsthand.search_messages AS s
WHERE NOT EXISTS (
    SELECT 1 FROM firsthand.messages AS m
    WHERE m.tenant = s.tenant AND m.user_id = s.user_id AND m.id = s.id
        AND m.recorded_at = s.recorded_at AND m.counter = s.counter AND m.store = s.store
)
UNION ALL
SELECT 'messages', count(*) FROM firsthand.messages AS m
WHERE NOT EXISTS (SELECT 1 FROM firsthand.owners AS w WHERE w.tenant = m.tenant AND w.user_id = m.user_id)
UNION ALL
SELECT 'observations', count(*) FROM firsthand.observations AS o
WHERE NOT EXISTS (SELECT 1 FROM firsthand.owners AS w WHERE w.tenant = o.tenant AND w.user_id = o.user_id);

-- name: owners_behind
-- Owners whose head row lies before their own last row.
SELECT w.tenant, w.user_id FROM firsthand.owners AS w
WHERE w.recorded_at < (
    SELECT max(m.recorded_at) FROM firsthand.messages AS m WHERE m.tenant = w.tenant AND m.user_id = w.user_id
) OR w.recorded_at < (
    SELECT max(o.recorded_at) FROM firsthand.observations AS o WHERE o.tenant = w.tenant AND o.user_id = w.user_id
);

-- name: begin_reading
-- Start a snapshot of one owner's rows, and read its head.
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL citus.propagate_set_commands = 'local';
SET LOCAL firsthand.tenant = $1;
SET LOCAL firsthand.user_id = $2;
SELECT version, epoch, recorded_at, counter FROM firsthand.owners WHERE tenant = $1 AND user_id = $2;

-- name: begin_writing
-- Start a change of one owner's rows, and lock and read its head. While anybody is writing, facts do not change.
BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
SET LOCAL citus.propagate_set_commands = 'local';
SET LOCAL firsthand.tenant = $1;
SET LOCAL firsthand.user_id = $2;
SET LOCAL lock_timeout = $3;
SELECT pg_advisory_xact_lock_shared($4);
SELECT version, epoch, recorded_at, counter FROM firsthand.owners WHERE tenant = $1 AND user_id = $2 FOR UPDATE;

-- name: lock_new_head
-- Make a head row that is there only to be locked, and lock it. One that came up meanwhile is waited for.
INSERT INTO firsthand.owners (tenant, user_id, version, epoch, recorded_at, counter) VALUES ($1, $2, 0, 0, 0, 0)
ON CONFLICT (tenant, user_id) DO NOTHING;
SELECT version, epoch, recorded_at, counter FROM firsthand.owners WHERE tenant = $1 AND user_id = $2 FOR UPDATE;

-- name: begin_listing
-- Start a snapshot of what is about the store as a whole.
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL citus.propagate_set_commands = 'local';
SET LOCAL firsthand.listing = 'on';

-- name: begin_setting
-- Start a change of facts: nobody is writing meanwhile.
BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
SET LOCAL lock_timeout = $1;
SELECT pg_advisory_xact_lock($2);

-- name: name_tenant
-- Go on with what is left of another tenant's erased owners.
SET LOCAL firsthand.tenant = $1;

-- name: begin_taking_over
-- Start a change of what erasures left behind, of all tenants: nobody is writing meanwhile.
BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
SET LOCAL citus.propagate_set_commands = 'local';
SET LOCAL firsthand.listing = 'on';
SET LOCAL lock_timeout = $1;
SELECT pg_advisory_xact_lock($2);

-- name: unusable_indexes
-- Indexes that were left half made.
SELECT i.indexrelid::regclass::text FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'firsthand' AND NOT i.indisvalid
ORDER BY 1;

-- name: users_of_tables
-- Roles, other than the tables' owner, that may read messages.
SELECT DISTINCT grantee FROM information_schema.role_table_grants
WHERE table_schema = 'firsthand' AND table_name = 'messages' AND privilege_type = 'SELECT'
    AND grantee NOT IN ('PUBLIC', current_user)
ORDER BY 1;

-- name: has_citus
-- Whether tables can be sharded here.
SELECT to_regproc('create_distributed_table') IS NOT NULL;

-- name: sharded_tables
-- Tables that are sharded already.
SELECT c.relname FROM pg_dist_partition AS d
JOIN pg_class AS c ON c.oid = d.logicalrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'firsthand'
ORDER BY 1;

-- name: tables_of_tenants
-- Tables whose rows are a tenant's.
SELECT c.relname FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
WHERE n.nspname = 'firsthand' AND c.relkind IN ('r', 'p')
ORDER BY c.relname <> 'owners', c.relname;

-- name: shard
-- Shard a table by tenant, each tenant's rows on the node of its rows in another table.
SELECT create_distributed_table($1::text::regclass, 'tenant', colocate_with => $2::text);

-- name: anything_kept
-- Whether there is any row of anybody, asked by who may list.
SELECT EXISTS (SELECT 1 FROM firsthand.owners)
    OR EXISTS (SELECT 1 FROM firsthand.erased_owners)
    OR EXISTS (SELECT 1 FROM firsthand.tombstones);

-- name: tables_owned
-- Tables that this role may write anew.
SELECT c.relname FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'firsthand' AND c.relkind IN ('r', 'p') AND pg_has_role(current_user, c.relowner, 'USAGE')
ORDER BY 1;
