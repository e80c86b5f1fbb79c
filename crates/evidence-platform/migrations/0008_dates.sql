-- When a signing key counts, by the platform's own time of receipt; NULL: no limit.
ALTER TABLE trusted_keys ADD COLUMN valid_from BIGINT;
ALTER TABLE trusted_keys ADD COLUMN valid_until BIGINT;
ALTER TABLE trusted_keys ADD COLUMN revoked_since BIGINT;
ALTER TABLE trusted_keys ADD COLUMN revoked_reason TEXT;

-- When an API key ends, and when it was last used, to the hour.
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;
ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT;

-- An older program would accept what such a key signed, and such an API key.
UPDATE schema_compatibility SET oldest = 8;
