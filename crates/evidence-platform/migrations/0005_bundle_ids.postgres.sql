-- A bundle has the id of its manifest, once per organization. Where two of one organization have the same one, both keep the
-- name that the platform gave them before.
DROP TRIGGER bundles_same_bytes ON bundles;
ALTER TABLE bundles DROP CONSTRAINT bundles_pkey;

UPDATE bundles SET id = CASE WHEN (
    SELECT COUNT(*) FROM bundles AS other
    WHERE other.organization_id = bundles.organization_id AND other.manifest_bundle_id = bundles.manifest_bundle_id
) = 1 THEN bundles.manifest_bundle_id ELSE bundles.id END;

ALTER TABLE bundles ADD PRIMARY KEY (organization_id, id);
ALTER TABLE bundles DROP COLUMN manifest_bundle_id;

CREATE TRIGGER bundles_same_bytes BEFORE UPDATE OF id, organization_id, sha256, size_bytes, facts, key_id ON bundles
FOR EACH ROW EXECUTE FUNCTION evidence_refuse('a stored bundle does not change');

UPDATE schema_compatibility SET oldest = 5;
