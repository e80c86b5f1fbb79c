-- Tags that hold every bundle that has them, now and later, whatever its retention.
CREATE TABLE tag_holds (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    tag TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, tag)
);

-- What is due.
CREATE INDEX bundles_by_retention ON bundles (retention_until, organization_id, id);

-- An older program would delete what a tag holds.
UPDATE schema_compatibility SET oldest = 13;
