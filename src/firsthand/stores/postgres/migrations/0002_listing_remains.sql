-- What erasures left behind can be listed too, digests all of it, so that a store can be copied whole.
-- least: 1

CREATE POLICY listing ON firsthand.erased_owners FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
CREATE POLICY listing ON firsthand.tombstones FOR SELECT USING (current_setting('firsthand.listing', true) = 'on');
