-- What a firsthand file is. How it came to be is in migrations/; a test builds both and compares them.
--
-- The tenant comes first in every key, so that the same tables can be sharded by tenant. There are no triggers and no
-- foreign keys: the adapter writes each row and its dependents in one transaction, and `check` looks for orphans.
-- Tables with long rows keep a rowid: without one SQLite spills rows above a quarter of a page into pages of their own.
-- Times are microseconds since 1970 (UTC). A row's place in its owner's ledger is (recorded_at, counter, store).

-- One row: the store's own id, part of every position, and the secret that keys what an erasure leaves behind.
CREATE TABLE store (
    id TEXT NOT NULL,
    secret BLOB NOT NULL,
    scrub_due INTEGER NOT NULL -- whether removed bytes may still be in the file
) STRICT;

CREATE TABLE migrations (
    name TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What the store knows of itself: the policy in use, the embedder of its vectors.
CREATE TABLE facts (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The owner's head: locked by each write, read by each cache.
CREATE TABLE owners (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id)
) STRICT, WITHOUT ROWID;

-- The head of an owner who was erased whole. `owner` is a keyed digest: nothing here names anybody.
CREATE TABLE erased_owners (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

-- Keyed digests of erased ids: they bind import and merge.
CREATE TABLE tombstones (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    digest TEXT NOT NULL,
    erased_at INTEGER NOT NULL DEFAULT 0, -- a mark binds what was recorded by then
    PRIMARY KEY (tenant, owner, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    store TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT,
    session TEXT,
    agent TEXT,
    origin TEXT,
    at INTEGER NOT NULL,
    at_offset INTEGER NOT NULL, -- microseconds east of UTC that the time was given with
    recalled INTEGER NOT NULL,
    content TEXT NOT NULL,
    rest TEXT, -- JSON of what is seldom there: at_original, raw, metadata, masked
    checksum INTEGER NOT NULL, -- CRC-32 of content and rest, for `check`
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
) STRICT;

CREATE UNIQUE INDEX messages_by_id ON messages (tenant, user_id, id);
CREATE INDEX messages_by_session ON messages (tenant, user_id, session, recorded_at, counter, store, at);

CREATE TABLE observations (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    store TEXT NOT NULL,
    id TEXT NOT NULL,
    taken_back TEXT, -- the message that a standing retract act takes back
    level INTEGER NOT NULL, -- rank of the source
    body TEXT NOT NULL, -- JSON form of the observation, without what is absent
    checksum INTEGER NOT NULL, -- CRC-32 of body, for `check`
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
) STRICT;

CREATE UNIQUE INDEX observations_by_id ON observations (tenant, user_id, id);
CREATE INDEX observations_by_taken_back ON observations (tenant, user_id, taken_back, level)
WHERE taken_back IS NOT NULL;

CREATE TABLE evidence (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    observation_id TEXT NOT NULL,
    place INTEGER NOT NULL, -- among the evidence of its observation
    message_id TEXT NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    PRIMARY KEY (tenant, user_id, observation_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_by_message ON evidence (tenant, user_id, message_id);

-- From here on everything is derived, up to `receipts`.

CREATE TABLE placements (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    observation_id TEXT NOT NULL,
    slot TEXT NOT NULL,
    cell TEXT NOT NULL,
    claim TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id, observation_id, slot, cell, claim)
) STRICT, WITHOUT ROWID;

CREATE INDEX placements_by_slot ON placements (tenant, user_id, slot, claim);
CREATE INDEX placements_by_version ON placements (tenant, user_id, version);

CREATE TABLE cells (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    slot TEXT NOT NULL,
    cell TEXT NOT NULL,
    subject TEXT NOT NULL,
    attribute TEXT,
    state TEXT NOT NULL, -- '' where the cell is gone and caches have yet to learn it
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id, slot, cell)
) STRICT;

CREATE INDEX cells_by_version ON cells (tenant, user_id, version);

-- Repeats the columns of messages that recall keeps in memory, so that one scan of small rows loads them all.
CREATE TABLE search_messages (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    store TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT,
    agent TEXT,
    role TEXT NOT NULL,
    name TEXT,
    at INTEGER NOT NULL,
    recalled INTEGER NOT NULL,
    terms BLOB NOT NULL,
    vector BLOB,
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
) STRICT;

CREATE INDEX search_messages_due ON search_messages (tenant, user_id, recorded_at, counter, store)
WHERE vector IS NULL;

CREATE TABLE search_beliefs (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL, -- slot, cell and claim
    terms BLOB NOT NULL,
    vector BLOB,
    PRIMARY KEY (tenant, user_id, id)
) STRICT;

CREATE INDEX search_beliefs_due ON search_beliefs (tenant, user_id, id)
WHERE vector IS NULL;

-- Receipts under their idempotency keys.
CREATE TABLE receipts (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest TEXT NOT NULL,
    receipt TEXT NOT NULL,
    PRIMARY KEY (tenant, user_id, idempotency_key)
) STRICT, WITHOUT ROWID;

-- What was not let in: why, never what.
CREATE TABLE dropped (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    store TEXT NOT NULL,
    place INTEGER NOT NULL, -- among what was dropped at one position
    message_id TEXT,
    reason TEXT NOT NULL,
    rule TEXT,
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX dropped_by_message ON dropped (tenant, user_id, message_id);

-- How often recall served, as the caller reports it.
CREATE TABLE uses (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id, id)
) STRICT, WITHOUT ROWID;

-- How far a model has read each session, when it is to read on, and who is at it.
CREATE TABLE cursors (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session TEXT NOT NULL, -- '' for messages of no session
    recorded_at INTEGER NOT NULL, -- with the next two: the last message read; counter -1 where none was
    counter INTEGER NOT NULL,
    store TEXT NOT NULL,
    due_at INTEGER,
    leased_until INTEGER NOT NULL,
    holder TEXT NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX cursors_due ON cursors (tenant, user_id, due_at)
WHERE due_at IS NOT NULL;

-- What models were asked for, by day.
CREATE TABLE spending (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    day TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant, user_id, day)
) STRICT, WITHOUT ROWID;

-- What the planner goes by. Without it SQLite takes (tenant, user_id) for as telling as an id and walks an owner's whole
-- history. Each entry: rows in all, then rows alike in the first column, in the first two, and so on.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('messages', 'sqlite_autoindex_messages_1', '1000000 500000 10000 2 1 1'),
    ('messages', 'messages_by_id', '1000000 500000 10000 1'),
    ('messages', 'messages_by_session', '1000000 500000 10000 50 2 1 1 1'),
    ('observations', 'sqlite_autoindex_observations_1', '1000000 500000 10000 2 1 1'),
    ('observations', 'observations_by_id', '1000000 500000 10000 1'),
    ('observations', 'observations_by_taken_back', '1000 500 10 1 1'),
    ('evidence', 'evidence', '1000000 500000 10000 2 1'),
    ('evidence', 'evidence_by_message', '1000000 500000 10000 2'),
    ('placements', 'placements', '1000000 500000 10000 1 1 1 1'),
    ('placements', 'placements_by_slot', '1000000 500000 10000 20 5'),
    ('placements', 'placements_by_version', '1000000 500000 10000 3'),
    ('cells', 'sqlite_autoindex_cells_1', '300000 150000 3000 5 1'),
    ('cells', 'cells_by_version', '300000 150000 3000 3'),
    ('search_messages', 'sqlite_autoindex_search_messages_1', '1000000 500000 10000 2 1 1'),
    ('search_messages', 'search_messages_due', '10000 5000 100 2 1 1'),
    ('search_beliefs', 'sqlite_autoindex_search_beliefs_1', '300000 150000 3000 1'),
    ('search_beliefs', 'search_beliefs_due', '10000 5000 100 1'),
    ('receipts', 'receipts', '100000 50000 1000 1'),
    ('dropped', 'dropped', '100000 50000 1000 2 1 1 1'),
    ('dropped', 'dropped_by_message', '100000 50000 1000 2'),
    ('uses', 'uses', '100000 50000 1000 1'),
    ('tombstones', 'tombstones', '100000 50000 1000 1'),
    ('cursors', 'cursors', '10000 5000 100 1'),
    ('cursors', 'cursors_due', '1000 500 10 2'),
    ('spending', 'spending', '10000 5000 100 1');
