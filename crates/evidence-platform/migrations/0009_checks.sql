-- What the last check of a bundle's stored bytes found; an empty result is good.
CREATE TABLE bundle_checks (
    organization_id TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    checked_at BIGINT NOT NULL,
    result TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (organization_id, bundle_id)
);
CREATE INDEX bundle_checks_by_result ON bundle_checks (result);

-- Blobs that neither a bundle nor a claim names, as of the last complete check.
CREATE TABLE stray_blobs (
    organization_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    found_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, sha256)
);

-- The check of everything that is stored: one row. `finished_at` is 0 while it is under way or was interrupted.
CREATE TABLE check_run (
    started_at BIGINT NOT NULL,
    finished_at BIGINT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL
);
INSERT INTO check_run (started_at, finished_at, holder, held_until) VALUES (0, 1, '', 0);
