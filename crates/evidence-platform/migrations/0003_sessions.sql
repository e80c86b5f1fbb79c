-- Sessions of people who look at the pages. Like keys, they are kept as hashes; a revoked key ends its sessions.

CREATE TABLE sessions (
    hash TEXT NOT NULL PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
