-- The last time at which the platform ran, took an upload or a sign-in, in steps of at most a day; 0 before the first. A
-- clock that is further ahead has jumped, or the platform was off.
CREATE TABLE clock (seen BIGINT NOT NULL);
INSERT INTO clock (seen) SELECT COALESCE(MAX(uploaded_at), 0) FROM bundles;
