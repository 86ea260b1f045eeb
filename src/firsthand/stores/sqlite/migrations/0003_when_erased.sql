-- A mark of an erasure binds what was recorded before it, so that what is said again stays wherever it is taken.

ALTER TABLE tombstones ADD COLUMN erased_at INTEGER NOT NULL DEFAULT 0;

UPDATE tombstones SET erased_at = 9223372036854775807; -- when is not known of these: they bind for good
