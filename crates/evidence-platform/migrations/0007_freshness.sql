-- After how many hours a bundle is expected; NULL: nothing is expected.
ALTER TABLE organizations ADD COLUMN expect_hours BIGINT;

-- The older of its two times says how fresh a bundle is: a signer can date ahead, and an old bundle can arrive today.
CREATE INDEX bundles_by_freshness ON bundles
    (organization_id, (CASE WHEN collected_at < uploaded_at THEN collected_at ELSE uploaded_at END));
