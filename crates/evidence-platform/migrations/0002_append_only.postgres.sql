CREATE FUNCTION evidence_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END
$$;

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
FOR EACH ROW EXECUTE FUNCTION evidence_refuse('the audit log is append-only');

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION evidence_refuse('the audit log is append-only');

CREATE TRIGGER bundles_same_bytes BEFORE UPDATE OF id, organization_id, sha256, size_bytes, facts, key_id ON bundles
FOR EACH ROW EXECUTE FUNCTION evidence_refuse('a stored bundle does not change');
