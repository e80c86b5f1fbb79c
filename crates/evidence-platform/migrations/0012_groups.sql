-- A group has a row of its own in `organizations`, to which its keys, sessions and audit records belong. It has no bundles.
ALTER TABLE organizations ADD COLUMN is_group BIGINT NOT NULL DEFAULT 0;
-- The group that an organization is in.
ALTER TABLE organizations ADD COLUMN group_id TEXT;
CREATE INDEX organizations_by_group ON organizations (group_id, slug);

-- The newest bundle of each subject under each framework.
CREATE INDEX bundles_by_subject ON bundles (organization_id, subject, framework, collected_at, id);

-- An older program would take a group for an organization.
UPDATE schema_compatibility SET oldest = 12;
