-- Every query of the embedded store: its name, what it does, and the statement. Loaded by name in queries.py.
-- Another dialect has a file with the same names.

-- name: store
-- The store's own id and secret.
SELECT id, secret FROM store;

-- name: found_store
-- Make the one row that says which store this is.
INSERT INTO store (id, secret, scrub_due) VALUES (?1, randomblob(32), 0);

-- name: scrub_due
-- Whether removed bytes may still be in the file.
SELECT scrub_due FROM store;

-- name: set_scrub_due
-- Say whether removed bytes may still be in the file.
UPDATE store SET scrub_due = ?1;

-- name: migrations
-- Which migrations ran.
SELECT name FROM migrations ORDER BY name;

-- name: record_migration
-- Remember that a migration ran.
INSERT INTO migrations (name) VALUES (?1);

-- name: facts
-- What the store knows of itself.
SELECT name, value FROM facts ORDER BY name;

-- name: set_fact
-- Add or change one fact.
INSERT INTO facts (name, value) VALUES (?1, ?2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: drop_fact
-- Forget one fact.
DELETE FROM facts WHERE name = ?1;

-- name: owners
-- Everyone who ever wrote and was not erased.
SELECT tenant, user_id FROM owners ORDER BY tenant, user_id;

-- name: head
-- The head row of an owner.
SELECT version, epoch, recorded_at, counter FROM owners WHERE tenant = ?1 AND user_id = ?2;

-- name: erased_head
-- The head of an owner who was erased whole.
SELECT version, epoch, recorded_at, counter FROM erased_owners WHERE tenant = ?1 AND owner = ?2;

-- name: set_head
-- Write the head row of an owner.
INSERT INTO owners (tenant, user_id, version, epoch, recorded_at, counter) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (tenant, user_id) DO UPDATE SET
    version = excluded.version,
    epoch = excluded.epoch,
    recorded_at = excluded.recorded_at,
    counter = excluded.counter;

-- name: set_erased_head
-- Write the head of an owner who is erased whole.
INSERT INTO erased_owners (tenant, owner, version, epoch, recorded_at, counter) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (tenant, owner) DO UPDATE SET
    version = excluded.version,
    epoch = excluded.epoch,
    recorded_at = excluded.recorded_at,
    counter = excluded.counter;

-- name: drop_erased_head
-- An erased owner starts anew.
DELETE FROM erased_owners WHERE tenant = ?1 AND owner = ?2;

-- name: tombstone
-- One of the digests that an erasure left behind.
SELECT digest FROM tombstones WHERE tenant = ?1 AND owner = ?2 AND digest = ?3;

-- name: tombstones
-- All digests that erasures of an owner left behind.
SELECT digest, erased_at FROM tombstones WHERE tenant = ?1 AND owner = ?2 ORDER BY digest;

-- name: lift_tombstone
-- Take back one of them.
DELETE FROM tombstones WHERE tenant = ?1 AND owner = ?2 AND digest = ?3;

-- name: add_tombstone
-- Leave a digest behind.
INSERT INTO tombstones (tenant, owner, digest, erased_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (tenant, owner, digest) DO UPDATE SET erased_at = max(erased_at, excluded.erased_at);

-- name: add_message
-- Append a message.
INSERT INTO messages (
    tenant, user_id, recorded_at, counter, store, id, role, name, session, agent, origin, at, at_offset, recalled,
    content, rest, checksum
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: message_exists
-- Whether a message id is taken.
SELECT id FROM messages WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: message
-- One message by id, where the filters let it through.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM messages
WHERE tenant = ?1 AND user_id = ?2 AND id = ?3
    AND (?4 IS NULL OR session = ?4) AND (?5 IS NULL OR agent = ?5) AND (?6 IS NULL OR origin = ?6)
    AND at >= ?7 AND at < ?8 AND (recorded_at, counter, store) > (?9, ?10, ?11);

-- name: messages_oldest_first
-- Messages in ledger order.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM messages
WHERE tenant = ?1 AND user_id = ?2
    AND (?3 IS NULL OR session = ?3) AND (?4 IS NULL OR agent = ?4) AND (?5 IS NULL OR origin = ?5)
    AND at >= ?6 AND at < ?7 AND (recorded_at, counter, store) > (?8, ?9, ?10)
ORDER BY recorded_at, counter, store LIMIT ?11;

-- name: messages_newest_first
-- Messages in ledger order, backwards.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM messages
WHERE tenant = ?1 AND user_id = ?2
    AND (?3 IS NULL OR session = ?3) AND (?4 IS NULL OR agent = ?4) AND (?5 IS NULL OR origin = ?5)
    AND at >= ?6 AND at < ?7 AND (recorded_at, counter, store) > (?8, ?9, ?10)
ORDER BY recorded_at DESC, counter DESC, store DESC LIMIT ?11;

-- name: session_oldest_first
-- Messages of one session in ledger order.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM messages
WHERE tenant = ?1 AND user_id = ?2 AND session = ?3
    AND (?4 IS NULL OR agent = ?4) AND (?5 IS NULL OR origin = ?5)
    AND at >= ?6 AND at < ?7 AND (recorded_at, counter, store) > (?8, ?9, ?10)
ORDER BY recorded_at, counter, store LIMIT ?11;

-- name: session_newest_first
-- Messages of one session in ledger order, backwards.
SELECT id, role, content, at, at_offset, recorded_at, counter, store, name, session, agent, origin, recalled, rest
FROM messages
WHERE tenant = ?1 AND user_id = ?2 AND session = ?3
    AND (?4 IS NULL OR agent = ?4) AND (?5 IS NULL OR origin = ?5)
    AND at >= ?6 AND at < ?7 AND (recorded_at, counter, store) > (?8, ?9, ?10)
ORDER BY recorded_at DESC, counter DESC, store DESC LIMIT ?11;

-- name: sessions
-- Every session with its size and span, by its first message.
SELECT session, count(*), min(at), max(at)
FROM messages
WHERE tenant = ?1 AND user_id = ?2
GROUP BY session
ORDER BY min(recorded_at), min(counter), session;

-- name: retractions
-- Every standing act that takes back a message, in ledger order.
SELECT taken_back, body
FROM observations
WHERE tenant = ?1 AND user_id = ?2 AND taken_back IS NOT NULL
ORDER BY recorded_at, counter, store;

-- name: retractions_of
-- Standing acts that take back one message, in ledger order.
SELECT taken_back, body
FROM observations
WHERE tenant = ?1 AND user_id = ?2 AND taken_back = ?3
ORDER BY recorded_at, counter, store;

-- name: add_observation
-- Append an observation.
INSERT INTO observations (
    tenant, user_id, recorded_at, counter, store, id, taken_back, level, body, checksum
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: add_evidence
-- Tie an observation to a message.
INSERT INTO evidence (tenant, user_id, observation_id, place, message_id, span_start, span_end)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: observation_exists
-- Whether an observation id is taken.
SELECT id FROM observations WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: observation
-- One observation by id.
SELECT id, body FROM observations WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: rows
-- Observations in ledger order, once for each message they cite, with what the message contributes.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM observations AS a
        WHERE a.tenant = ?1 AND a.user_id = ?2 AND a.taken_back = e.message_id AND a.recorded_at <= ?6
    ) AS taken_back
FROM observations AS o
LEFT JOIN evidence AS e ON e.tenant = ?1 AND e.user_id = ?2 AND e.observation_id = o.id
LEFT JOIN messages AS m ON m.tenant = ?1 AND m.user_id = ?2 AND m.id = e.message_id AND m.recorded_at <= ?6
WHERE o.tenant = ?1 AND o.user_id = ?2
    AND (o.recorded_at, o.counter, o.store) > (?3, ?4, ?5) AND o.recorded_at <= ?6
ORDER BY o.recorded_at, o.counter, o.store, e.place;

-- name: rows_of_slot
-- The same for the observations placed in a slot, in no order of their own.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM observations AS a
        WHERE a.tenant = ?1 AND a.user_id = ?2 AND a.taken_back = e.message_id AND a.recorded_at <= ?4
    ) AS taken_back
FROM (
    SELECT DISTINCT observation_id FROM placements WHERE tenant = ?1 AND user_id = ?2 AND slot = ?3
) AS p
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = p.observation_id AND o.recorded_at <= ?4
LEFT JOIN evidence AS e ON e.tenant = ?1 AND e.user_id = ?2 AND e.observation_id = o.id
LEFT JOIN messages AS m ON m.tenant = ?1 AND m.user_id = ?2 AND m.id = e.message_id AND m.recorded_at <= ?4
ORDER BY p.observation_id, e.place;

-- name: rows_of_id
-- The same for one observation.
SELECT
    o.id, o.body, e.message_id, m.recorded_at, m.counter, m.store, m.session, m.role, m.recalled,
    (
        SELECT max(a.level) FROM observations AS a
        WHERE a.tenant = ?1 AND a.user_id = ?2 AND a.taken_back = e.message_id
    ) AS taken_back
FROM observations AS o
LEFT JOIN evidence AS e ON e.tenant = ?1 AND e.user_id = ?2 AND e.observation_id = o.id
LEFT JOIN messages AS m ON m.tenant = ?1 AND m.user_id = ?2 AND m.id = e.message_id
WHERE o.tenant = ?1 AND o.user_id = ?2 AND o.id = ?3
ORDER BY e.place;

-- name: citing
-- Observations with evidence in one message.
SELECT DISTINCT o.id, o.body
FROM evidence AS e
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = e.observation_id
WHERE e.tenant = ?1 AND e.user_id = ?2 AND e.message_id = ?3;

-- name: cells
-- Cells written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM cells
WHERE tenant = ?1 AND user_id = ?2 AND version > ?3;

-- name: cells_of_slot
-- Cells of one slot written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM cells
WHERE tenant = ?1 AND user_id = ?2 AND slot = ?3 AND version > ?4;

-- name: cell
-- One cell, where it was written after a version.
SELECT slot, cell, subject, attribute, state, version
FROM cells
WHERE tenant = ?1 AND user_id = ?2 AND slot = ?3 AND cell = ?4 AND version > ?5;

-- name: save_cell
-- Add or replace a cell.
INSERT INTO cells (tenant, user_id, slot, cell, subject, attribute, state, version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (tenant, user_id, slot, cell) DO UPDATE SET
    subject = excluded.subject,
    attribute = excluded.attribute,
    state = excluded.state,
    version = excluded.version;

-- name: drop_gone_cells
-- Remove cells that are gone; only where every cache starts anew.
DELETE FROM cells WHERE tenant = ?1 AND user_id = ?2 AND state = '';

-- name: drop_placements
-- Remove the placements of one observation.
DELETE FROM placements WHERE tenant = ?1 AND user_id = ?2 AND observation_id = ?3;

-- name: add_placement
-- Say where an observation went.
INSERT INTO placements (tenant, user_id, observation_id, slot, cell, claim, version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (tenant, user_id, observation_id, slot, cell, claim) DO UPDATE SET version = excluded.version;

-- name: placements
-- Every placement with its observation, in ledger order.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM placements AS p
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = p.observation_id
WHERE p.tenant = ?1 AND p.user_id = ?2;

-- name: placements_of_observation
-- The placements of one observation.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM placements AS p
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = p.observation_id
WHERE p.tenant = ?1 AND p.user_id = ?2 AND p.observation_id = ?3;

-- name: placements_of_claim
-- The placements in one claim of a slot.
SELECT p.observation_id, p.slot, p.cell, p.claim, o.body
FROM placements AS p
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = p.observation_id
WHERE p.tenant = ?1 AND p.user_id = ?2 AND p.slot = ?3 AND p.claim = ?4;

-- name: cited
-- Messages cited by observations that were placed after a version, in ledger order.
SELECT p.observation_id, p.slot, p.cell, p.claim, e.message_id
FROM placements AS p
JOIN observations AS o ON o.tenant = ?1 AND o.user_id = ?2 AND o.id = p.observation_id
JOIN evidence AS e ON e.tenant = ?1 AND e.user_id = ?2 AND e.observation_id = p.observation_id
WHERE p.tenant = ?1 AND p.user_id = ?2 AND p.version > ?3
ORDER BY o.recorded_at, o.counter, o.store, p.slot, p.cell, p.claim, e.place;

-- name: slots_of_observation
-- The slots in which one observation was placed.
SELECT DISTINCT slot FROM placements WHERE tenant = ?1 AND user_id = ?2 AND observation_id = ?3;

-- name: drop_cells_of_slot
-- Remove the cells of a slot.
DELETE FROM cells WHERE tenant = ?1 AND user_id = ?2 AND slot = ?3;

-- name: put_search_message
-- Add or replace the search row of a message that exists.
INSERT INTO search_messages (
    tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
)
SELECT tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, ?4, ?5
FROM messages
WHERE tenant = ?1 AND user_id = ?2 AND id = ?3
ON CONFLICT (tenant, user_id, recorded_at, counter, store) DO UPDATE SET
    terms = excluded.terms,
    vector = excluded.vector;

-- name: put_fresh_search_message
-- Add or replace the search row of a message that the same unit of work added.
INSERT INTO search_messages (
    tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (tenant, user_id, recorded_at, counter, store) DO UPDATE SET
    terms = excluded.terms,
    vector = excluded.vector;

-- name: put_search_belief
-- Add or replace the search row of a belief.
INSERT INTO search_beliefs (tenant, user_id, id, terms, vector) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET terms = excluded.terms, vector = excluded.vector;

-- name: drop_search_message
-- Remove the search row of a message.
DELETE FROM search_messages
WHERE (tenant, user_id, recorded_at, counter, store) = (
    SELECT m.tenant, m.user_id, m.recorded_at, m.counter, m.store FROM messages AS m
    WHERE m.tenant = ?1 AND m.user_id = ?2 AND m.id = ?3
);

-- name: drop_search_belief
-- Remove the search row of a belief.
DELETE FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: drop_search_beliefs_of_slot
-- Remove the search rows of the beliefs of a slot: those whose id lies between the slot's first and last.
DELETE FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2 AND id >= ?3 AND id < ?4;

-- name: search_messages
-- Search rows of messages in ledger order.
SELECT id, recorded_at, counter, store, session, agent, role, name, at, terms, vector, recalled
FROM search_messages
WHERE tenant = ?1 AND user_id = ?2 AND (recorded_at, counter, store) > (?3, ?4, ?5)
ORDER BY recorded_at, counter, store;

-- name: search_beliefs
-- Search rows of beliefs.
SELECT id, terms, vector FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2 ORDER BY id;

-- name: search_belief
-- The search row of one belief.
SELECT id, terms, vector FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: forget_message_vectors
-- Take the vectors of messages away.
UPDATE search_messages SET vector = NULL WHERE tenant = ?1 AND user_id = ?2 AND vector IS NOT NULL;

-- name: forget_belief_vectors
-- Take the vectors of beliefs away.
UPDATE search_beliefs SET vector = NULL WHERE tenant = ?1 AND user_id = ?2 AND vector IS NOT NULL;

-- name: due_messages
-- Messages whose search row has no vector, in ledger order.
SELECT m.id, m.content
FROM search_messages AS s
JOIN messages AS m
    ON m.tenant = ?1 AND m.user_id = ?2
    AND m.recorded_at = s.recorded_at AND m.counter = s.counter AND m.store = s.store
WHERE s.tenant = ?1 AND s.user_id = ?2 AND s.vector IS NULL
ORDER BY s.recorded_at, s.counter, s.store LIMIT ?3;

-- name: due_beliefs
-- Beliefs whose search row has no vector.
SELECT id FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2 AND vector IS NULL ORDER BY id LIMIT ?3;

-- name: receipt
-- What was answered under an idempotency key.
SELECT digest, receipt FROM receipts WHERE tenant = ?1 AND user_id = ?2 AND idempotency_key = ?3;

-- name: receipts
-- Every receipt of an owner.
SELECT idempotency_key, receipt FROM receipts WHERE tenant = ?1 AND user_id = ?2;

-- name: add_receipt
-- Remember what was answered under an idempotency key.
INSERT INTO receipts (tenant, user_id, idempotency_key, digest, receipt) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: drop_receipt
-- Forget an idempotency key.
DELETE FROM receipts WHERE tenant = ?1 AND user_id = ?2 AND idempotency_key = ?3;

-- name: dropped_at
-- How much was dropped at a position.
SELECT count(*) FROM dropped
WHERE tenant = ?1 AND user_id = ?2 AND recorded_at = ?3 AND counter = ?4 AND store = ?5;

-- name: add_dropped
-- Record that something was not let in.
INSERT INTO dropped (tenant, user_id, recorded_at, counter, store, place, message_id, reason, rule)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: dropped
-- What was not let in, oldest first.
SELECT recorded_at, counter, store, place, message_id, reason, rule FROM dropped
WHERE tenant = ?1 AND user_id = ?2
ORDER BY recorded_at, counter, store, place;

-- name: dropped_from_message
-- What was not let in from one message.
SELECT recorded_at, counter, store, place, message_id, reason, rule FROM dropped
WHERE tenant = ?1 AND user_id = ?2 AND message_id = ?3;

-- name: add_use
-- Count uses.
INSERT INTO uses (tenant, user_id, id, count, last_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET
    count = uses.count + excluded.count,
    last_at = max(uses.last_at, excluded.last_at);

-- name: merge_use
-- Take in a use counted elsewhere.
INSERT INTO uses (tenant, user_id, id, count, last_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, user_id, id) DO UPDATE SET
    count = max(uses.count, excluded.count),
    last_at = max(uses.last_at, excluded.last_at);

-- name: uses
-- Every use counted.
SELECT id, count, last_at FROM uses WHERE tenant = ?1 AND user_id = ?2;

-- name: cursor
-- How far a model has read a session.
SELECT session, recorded_at, counter, store, due_at, leased_until, holder, failures FROM cursors
WHERE tenant = ?1 AND user_id = ?2 AND session = ?3;

-- name: save_cursor
-- Add or replace the cursor of a session.
INSERT INTO cursors
    (tenant, user_id, session, recorded_at, counter, store, due_at, leased_until, holder, failures)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
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
SELECT session, recorded_at, counter, store, due_at, leased_until, holder, failures FROM cursors
WHERE tenant = ?1 AND user_id = ?2 AND due_at <= ?3 AND leased_until <= ?3
ORDER BY due_at, session;

-- name: due_owners
-- Owners with such sessions.
SELECT DISTINCT tenant, user_id FROM cursors
WHERE due_at IS NOT NULL AND due_at <= ?1 AND leased_until <= ?1
ORDER BY tenant, user_id;

-- name: add_spending
-- Add to what an owner spent on a day.
INSERT INTO spending (tenant, user_id, day, calls, tokens) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, user_id, day) DO UPDATE SET
    calls = spending.calls + excluded.calls,
    tokens = spending.tokens + excluded.tokens;

-- name: spent
-- What all owners spent on a day.
SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0) FROM spending WHERE day = ?1;

-- name: erase_message
-- Remove a message.
DELETE FROM messages WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: erase_evidence_in_message
-- Remove the ties of observations to a message.
DELETE FROM evidence WHERE tenant = ?1 AND user_id = ?2 AND message_id = ?3;

-- name: erase_dropped_from_message
-- Remove the record of what was dropped from a message.
DELETE FROM dropped WHERE tenant = ?1 AND user_id = ?2 AND message_id = ?3;

-- name: erase_observation
-- Remove an observation.
DELETE FROM observations WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: erase_evidence_of_observation
-- Remove the ties of an observation.
DELETE FROM evidence WHERE tenant = ?1 AND user_id = ?2 AND observation_id = ?3;

-- name: erase_use
-- Remove the use counted of an id and of the intervals that resume under it (`id@start`).
DELETE FROM uses WHERE tenant = ?1 AND user_id = ?2 AND (id = ?3 OR (id >= ?3 || '@' AND id < ?3 || 'A'));

-- name: set_body
-- Write an observation again without the words that were erased.
UPDATE observations SET body = ?4, checksum = ?5 WHERE tenant = ?1 AND user_id = ?2 AND id = ?3;

-- name: erase_all_messages
-- Everything of an owner, table by table.
DELETE FROM messages WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_observations
-- Everything of an owner, table by table.
DELETE FROM observations WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_evidence
-- Everything of an owner, table by table.
DELETE FROM evidence WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_placements
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM placements WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_cells
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM cells WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_search_messages
-- Everything of an owner, table by table.
DELETE FROM search_messages WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_search_beliefs
-- Everything of an owner, table by table; also where derived rows are rebuilt.
DELETE FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_receipts
-- Everything of an owner, table by table.
DELETE FROM receipts WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_dropped
-- Everything of an owner, table by table.
DELETE FROM dropped WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_uses
-- Everything of an owner, table by table.
DELETE FROM uses WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_idle_cursors
-- Cursors of sessions that have no message left.
DELETE FROM cursors
WHERE tenant = ?1 AND user_id = ?2 AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.tenant = ?1 AND m.user_id = ?2 AND m.session IS nullif(cursors.session, '')
);

-- name: erase_all_cursors
-- Everything of an owner, table by table.
DELETE FROM cursors WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_all_spending
-- Everything of an owner, table by table.
DELETE FROM spending WHERE tenant = ?1 AND user_id = ?2;

-- name: erase_owner
-- The head row itself.
DELETE FROM owners WHERE tenant = ?1 AND user_id = ?2;

-- name: rows_left
-- How many rows of an owner are left, over all tables.
SELECT
    (SELECT count(*) FROM messages WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM observations WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM evidence WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM placements WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM cells WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM search_messages WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM receipts WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM dropped WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM uses WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM cursors WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM spending WHERE tenant = ?1 AND user_id = ?2)
    + (SELECT count(*) FROM owners WHERE tenant = ?1 AND user_id = ?2);

-- name: kept_owners
-- The head row of an owner as stored, to be copied.
SELECT tenant, user_id, version, epoch, recorded_at, counter
FROM owners WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_messages
-- Messages of an owner as stored, to be copied.
SELECT
    tenant, user_id, recorded_at, counter, store, id, role, name, session, agent, origin, at, at_offset, recalled,
    content, rest, checksum
FROM messages WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_observations
-- Observations of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, id, taken_back, level, body, checksum
FROM observations WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_evidence
-- Ties of observations to messages of an owner as stored, to be copied.
SELECT tenant, user_id, observation_id, place, message_id, span_start, span_end
FROM evidence WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_placements
-- Placements of an owner as stored, to be copied.
SELECT tenant, user_id, observation_id, slot, cell, claim, version
FROM placements WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_cells
-- Cells of an owner as stored, to be copied.
SELECT tenant, user_id, slot, cell, subject, attribute, state, version
FROM cells WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_search_messages
-- Search rows of messages of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, id, session, agent, role, name, at, recalled, terms, vector
FROM search_messages WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_search_beliefs
-- Search rows of beliefs of an owner as stored, to be copied.
SELECT tenant, user_id, id, terms, vector
FROM search_beliefs WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_receipts
-- Receipts of an owner as stored, to be copied.
SELECT tenant, user_id, idempotency_key, digest, receipt
FROM receipts WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_dropped
-- What was not let in of an owner as stored, to be copied.
SELECT tenant, user_id, recorded_at, counter, store, place, message_id, reason, rule
FROM dropped WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_uses
-- Uses of an owner as stored, to be copied.
SELECT tenant, user_id, id, count, last_at
FROM uses WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_cursors
-- Cursors of an owner as stored, to be copied.
SELECT tenant, user_id, session, recorded_at, counter, store, due_at, leased_until, holder, failures
FROM cursors WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_spending
-- What models were asked for of an owner as stored, to be copied.
SELECT tenant, user_id, day, calls, tokens
FROM spending WHERE tenant = ?1 AND user_id = ?2;

-- name: kept_erased_owners
-- Every head of an owner who was erased whole, to be copied.
SELECT tenant, owner, version, epoch, recorded_at, counter FROM erased_owners;

-- name: kept_tombstones
-- Every digest that erasures left behind, to be copied.
SELECT tenant, owner, digest, erased_at FROM tombstones;

-- name: drop_erased_heads
-- Forget all that were erased whole, where another store's are taken over.
DELETE FROM erased_owners WHERE tenant = ?1;

-- name: drop_tombstones
-- Forget all that erasures left behind, where another store's are taken over.
DELETE FROM tombstones WHERE tenant = ?1;

-- name: set_secret
-- Key what erasures leave behind by the secret of the store that was copied.
UPDATE store SET secret = ?1;

-- name: stored_messages
-- Every message's text with its checksum, for `check`.
SELECT tenant, user_id, id, content, rest, checksum FROM messages;

-- name: stored_observations
-- Every observation's body with its checksum, for `check`.
SELECT tenant, user_id, id, body, checksum FROM observations;

-- name: orphans
-- Rows that hang on nothing, by kind.
SELECT 'evidence' AS kind, count(*) FROM evidence AS e
WHERE NOT EXISTS (
    SELECT 1 FROM observations AS o
    WHERE o.tenant = e.tenant AND o.user_id = e.user_id AND o.id = e.observation_id
)
UNION ALL
SELECT 'placements', count(*) FROM placements AS p
WHERE NOT EXISTS (
    SELECT 1 FROM observations AS o
    WHERE o.tenant = p.tenant AND o.user_id = p.user_id AND o.id = p.observation_id
)
UNION ALL
SELECT 'search rows', count(*) FROM search_messages AS s
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.tenant = s.tenant AND m.user_id = s.user_id AND m.id = s.id
        AND m.recorded_at = s.recorded_at AND m.counter = s.counter AND m.store = s.store
)
UNION ALL
SELECT 'messages', count(*) FROM messages AS m
WHERE NOT EXISTS (SELECT 1 FROM owners AS w WHERE w.tenant = m.tenant AND w.user_id = m.user_id)
UNION ALL
SELECT 'observations', count(*) FROM observations AS o
WHERE NOT EXISTS (SELECT 1 FROM owners AS w WHERE w.tenant = o.tenant AND w.user_id = o.user_id);

-- name: owners_behind
-- Owners whose head row lies before their own last row.
SELECT w.tenant, w.user_id FROM owners AS w
WHERE w.recorded_at < (
    SELECT max(m.recorded_at) FROM messages AS m WHERE m.tenant = w.tenant AND m.user_id = w.user_id
) OR w.recorded_at < (
    SELECT max(o.recorded_at) FROM observations AS o WHERE o.tenant = w.tenant AND o.user_id = w.user_id
);
