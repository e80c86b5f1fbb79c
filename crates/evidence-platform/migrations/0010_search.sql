-- What bundles are found by, derived from `facts` and `tags`: `tag=env=prod`, `status=fail`, `control=CC6.1`, ... The
-- empty term says that a bundle is in here.
CREATE TABLE bundle_terms (
    organization_id TEXT NOT NULL,
    term TEXT NOT NULL,
    collected_at BIGINT NOT NULL,
    bundle_id TEXT NOT NULL,
    PRIMARY KEY (organization_id, term, collected_at, bundle_id)
);
CREATE INDEX bundle_terms_by_bundle ON bundle_terms (organization_id, bundle_id);

-- Whether bundles from before this table are not all in it.
CREATE TABLE search_state (pending BIGINT NOT NULL);
INSERT INTO search_state (pending) VALUES (1);

-- An older program would add bundles that are not found.
UPDATE schema_compatibility SET oldest = 10;
