-- What the tables on a server are. How they came to be is in migrations/; a test builds both and compares them.
--
-- The tenant comes first in every key, so that the same tables can be sharded by tenant. There are no triggers, foreign
-- keys or sequences: the adapter writes each row and its dependents in one transaction, and `check` looks for orphans.
-- Texts compare by their bytes, as the embedded store's do. Times are microseconds since 1970 (UTC). A row's place in its
-- owner's ledger is (recorded_at, counter, store).

CREATE SCHEMA firsthand;

-- One row: the store's own id, part of every position, and the secret that keys what an erasure leaves behind.
CREATE TABLE firsthand.store (
    id text COLLATE "C" NOT NULL,
    secret bytea NOT NULL,
    scrub_due integer NOT NULL -- whether removed bytes may still be in the file
);

-- The steps that ran, each with the oldest schema whose programs still work with the tables.
CREATE TABLE firsthand.migrations (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    least integer NOT NULL
);

-- What the store knows of itself: the policy in use, the embedder of its vectors.
CREATE TABLE firsthand.facts (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

-- The owner's head: locked by each write, read by each cache.
CREATE TABLE firsthand.owners (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    epoch bigint NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    PRIMARY KEY (tenant, user_id)
);

-- The head of an owner who was erased whole. `owner` is a keyed digest: nothing here names anybody.
CREATE TABLE firsthand.erased_owners (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    epoch bigint NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    PRIMARY KEY (tenant, owner)
);

-- Keyed digests of erased ids: they bind import and merge.
CREATE TABLE firsthand.tombstones (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    erased_at bigint NOT NULL, -- a mark binds what was recorded by then
    PRIMARY KEY (tenant, owner, digest)
);

CREATE TABLE firsthand.messages (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    name text COLLATE "C",
    session text COLLATE "C",
    agent text COLLATE "C",
    origin text COLLATE "C",
    at bigint NOT NULL,
    at_offset bigint NOT NULL, -- microseconds east of UTC that the time was given with
    recalled integer NOT NULL,
    content text COLLATE "C" NOT NULL,
    rest text COLLATE "C", -- JSON of what is seldom there: at_original, raw, metadata, masked
    checksum bigint NOT NULL, -- CRC-32 of content and rest, for `check`
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
);

CREATE UNIQUE INDEX messages_by_id ON firsthand.messages (tenant, user_id, id);
CREATE INDEX messages_by_session ON firsthand.messages (tenant, user_id, session, recorded_at, counter, store, at);

CREATE TABLE firsthand.observations (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    taken_back text COLLATE "C", -- the message that a standing retract act takes back
    level integer NOT NULL, -- rank of the source
    body text COLLATE "C" NOT NULL, -- JSON form of the observation, without what is absent
    checksum bigint NOT NULL, -- CRC-32 of body, for `check`
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
);

CREATE UNIQUE INDEX observations_by_id ON firsthand.observations (tenant, user_id, id);
CREATE INDEX observations_by_taken_back ON firsthand.observations (tenant, user_id, taken_back, level)
WHERE taken_back IS NOT NULL;

CREATE TABLE firsthand.evidence (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    observation_id text COLLATE "C" NOT NULL,
    place integer NOT NULL, -- among the evidence of its observation
    message_id text COLLATE "C" NOT NULL,
    span_start integer,
    span_end integer,
    PRIMARY KEY (tenant, user_id, observation_id, place)
);

CREATE INDEX evidence_by_message ON firsthand.evidence (tenant, user_id, message_id);

-- From here on everything is derived, up to `receipts`.

CREATE TABLE firsthand.placements (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    observation_id text COLLATE "C" NOT NULL,
    slot text COLLATE "C" NOT NULL,
    cell text COLLATE "C" NOT NULL,
    claim text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, observation_id, slot, cell, claim)
);

CREATE INDEX placements_by_slot ON firsthand.placements (tenant, user_id, slot, claim);
CREATE INDEX placements_by_version ON firsthand.placements (tenant, user_id, version);

CREATE TABLE firsthand.cells (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    slot text COLLATE "C" NOT NULL,
    cell text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    attribute text COLLATE "C",
    state text COLLATE "C" NOT NULL, -- '' where the cell is gone and caches have yet to learn it
    version bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, slot, cell)
);

CREATE INDEX cells_by_version ON firsthand.cells (tenant, user_id, version);

-- Repeats the columns of messages that recall keeps in memory, so that one scan of small rows loads them all.
CREATE TABLE firsthand.search_messages (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    agent text COLLATE "C",
    role text COLLATE "C" NOT NULL,
    name text COLLATE "C",
    at bigint NOT NULL,
    recalled integer NOT NULL,
    terms bytea NOT NULL,
    vector bytea,
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store)
);

CREATE INDEX search_messages_due ON firsthand.search_messages (tenant, user_id, recorded_at, counter, store)
WHERE vector IS NULL;

CREATE TABLE firsthand.search_beliefs (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, -- slot, cell and claim
    terms bytea NOT NULL,
    vector bytea,
    PRIMARY KEY (tenant, user_id, id)
);

CREATE INDEX search_beliefs_due ON firsthand.search_beliefs (tenant, user_id, id)
WHERE vector IS NULL;

-- Receipts under their idempotency keys.
CREATE TABLE firsthand.receipts (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    receipt text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, user_id, idempotency_key)
);

-- What was not let in: why, never what.
CREATE TABLE firsthand.dropped (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    counter bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    place integer NOT NULL, -- among what was dropped at one position
    message_id text COLLATE "C",
    reason text COLLATE "C" NOT NULL,
    rule text COLLATE "C",
    PRIMARY KEY (tenant, user_id, recorded_at, counter, store, place)
);

CREATE INDEX dropped_by_message ON firsthand.dropped (tenant, user_id, message_id);

-- How often recall served, as the caller reports it.
CREATE TABLE firsthand.uses (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, id)
);

-- How far a model has read each session, when it is to read on, and who is at it.
CREATE TABLE firsthand.cursors (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL, -- '' for messages of no session
    recorded_at bigint NOT NULL, -- with the next two: the last message read; counter -1 where none was
    counter bigint NOT NULL,
    store text COLLATE "C" NOT NULL,
    due_at bigint,
    leased_until bigint NOT NULL,
    holder text COLLATE "C" NOT NULL,
    failures integer NOT NULL,
    PRIMARY KEY (tenant, user_id, session)
);

CREATE INDEX cursors_due ON firsthand.cursors (tenant, user_id, due_at)
WHERE due_at IS NOT NULL;

-- What models were asked for, by day.
CREATE TABLE firsthand.spending (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, day)
);

-- Terms and vectors are random bytes to a compressor; whoever loads an owner reads them all.
ALTER TABLE firsthand.search_messages ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE firsthand.search_beliefs ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN vector SET STORAGE EXTERNAL;

-- Rows that are written again and again find room on their own page.
ALTER TABLE firsthand.owners SET (fillfactor = 50);
ALTER TABLE firsthand.cells SET (fillfactor = 80);
ALTER TABLE firsthand.uses SET (fillfactor = 80);

-- An owner's rows are seen by who set that owner for the transaction, and by nobody else, the tables' owner included.
ALTER TABLE firsthand.owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.owners FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.messages FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.observations ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.observations FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.evidence FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.placements ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.placements FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.cells ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.cells FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.search_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.search_messages FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.search_beliefs ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.search_beliefs FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.receipts FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.dropped ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.dropped FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.uses FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.cursors ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.cursors FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.spending ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.spending FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.erased_owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.erased_owners FORCE ROW LEVEL SECURITY;
ALTER TABLE firsthand.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE firsthand.tombstones FORCE ROW LEVEL SECURITY;

CREATE POLICY of_owner ON firsthand.owners USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.messages USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.observations USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.evidence USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.placements USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.cells USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.search_messages USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.search_beliefs USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.receipts USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.dropped USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.uses USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.cursors USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

CREATE POLICY of_owner ON firsthand.spending USING (
    tenant = current_setting('firsthand.tenant', true) AND user_id = current_setting('firsthand.user_id', true)
);

-- These two hold digests instead of names.
CREATE POLICY of_tenant ON firsthand.erased_owners USING (tenant = current_setting('firsthand.tenant', true));
CREATE POLICY of_tenant ON firsthand.tombstones USING (tenant = current_setting('firsthand.tenant', true));

-- What says who there is, what is due, what was spent and what erasures left can be listed by who asks for exactly that.
CREATE POLICY listing ON firsthand.owners FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
CREATE POLICY listing ON firsthand.cursors FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
CREATE POLICY listing ON firsthand.spending FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
CREATE POLICY listing ON firsthand.erased_owners FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
CREATE POLICY listing ON firsthand.tombstones FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
