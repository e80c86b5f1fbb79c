-- One text for SQLite and PostgreSQL: TEXT and BIGINT only. Times are milliseconds of the Unix epoch.

CREATE TABLE organizations (
    id TEXT NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    prefix TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    role TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at, id);

CREATE TABLE trusted_keys (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    key_id TEXT NOT NULL,
    public_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, key_id)
);

CREATE TABLE bundles (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    manifest_bundle_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    framework TEXT NOT NULL,
    collected_at BIGINT NOT NULL,
    uploaded_at BIGINT NOT NULL,
    uploaded_by TEXT NOT NULL,
    key_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    tags TEXT NOT NULL,
    retention_until BIGINT NOT NULL,
    legal_hold BIGINT NOT NULL,
    UNIQUE (organization_id, sha256)
);
CREATE INDEX bundles_by_time ON bundles (organization_id, collected_at, id);

-- Who is putting or deleting which blob right now. A blob without a bundle always has a claim, so leftovers are found
-- here and the storage is never listed.
CREATE TABLE claims (
    organization_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    kind TEXT NOT NULL,
    claim_id TEXT NOT NULL,
    claimed_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, sha256)
);

CREATE TABLE audit_log (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    request_id TEXT NOT NULL
);
CREATE INDEX audit_log_by_time ON audit_log (organization_id, at, id);
