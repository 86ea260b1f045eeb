-- What models have yet to read, and what their reading cost.

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

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('cursors', 'cursors', '10000 5000 100 1'),
    ('cursors', 'cursors_due', '1000 500 10 2'),
    ('spending', 'spending', '10000 5000 100 1');
