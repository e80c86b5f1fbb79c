CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER bundles_same_bytes BEFORE UPDATE OF id, organization_id, sha256, size_bytes, facts, key_id ON bundles
BEGIN
    SELECT RAISE(ABORT, 'a stored bundle does not change');
END;
