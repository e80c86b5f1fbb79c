-- What arrived last: its rows are read first.
CREATE INDEX bundles_by_arrival ON bundles (uploaded_at, organization_id, id);
