-- A mark of an erasure binds what was recorded before it, so that what is said again stays wherever it is taken.
-- When is not known of those that are there: they bind for good.
ALTER TABLE firsthand.tombstones ADD COLUMN erased_at bigint NOT NULL DEFAULT 9223372036854775807;

ALTER TABLE firsthand.tombstones ALTER COLUMN erased_at DROP DEFAULT;
