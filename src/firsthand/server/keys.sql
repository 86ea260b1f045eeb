-- API keys. Digests only: a secret is shown once and never kept.

-- name: schema
CREATE TABLE IF NOT EXISTS api_key (
    id         TEXT PRIMARY KEY,
    digest     TEXT NOT NULL,              -- SHA-256 of the secret
    old_digest TEXT,                       -- of the one before a rotation
    old_until  INTEGER,                    -- microseconds; until then the old one holds too
    label      TEXT NOT NULL,
    tenant     TEXT NOT NULL,              -- '*' is every one
    user       TEXT NOT NULL,              -- '*' is every one
    role       TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    caller     TEXT NOT NULL CHECK (caller IN ('person', 'model')),
    made       INTEGER NOT NULL,
    expires    INTEGER,
    revoked    INTEGER
);

-- name: add
INSERT INTO api_key (id, digest, label, tenant, user, role, caller, made, expires, revoked)
VALUES (:id, :digest, :label, :tenant, :user, :role, :caller, :made, :expires, :revoked);

-- name: find
SELECT * FROM api_key WHERE id = :id;

-- name: all
SELECT * FROM api_key ORDER BY made, id;

-- name: rotate
UPDATE api_key SET old_digest = digest, old_until = :until, digest = :digest
WHERE id = :id AND revoked IS NULL AND (expires IS NULL OR expires > :now);

-- name: revoke
UPDATE api_key SET revoked = :now WHERE id = :id AND revoked IS NULL;
