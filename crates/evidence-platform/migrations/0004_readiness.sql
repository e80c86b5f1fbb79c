-- What `/readyz` writes. `readiness_room` never holds a row: its rows are taken back at once, and their only purpose is
-- that the database needs new space for them.
CREATE TABLE readiness (id TEXT NOT NULL PRIMARY KEY, at BIGINT NOT NULL);
INSERT INTO readiness (id, at) VALUES ('ready', 0);
CREATE TABLE readiness_room (filler TEXT NOT NULL);

-- The oldest schema a program must know to work on this database. A migration that older programs can work beside leaves
-- it as it is; any other ends with UPDATE schema_compatibility SET oldest = <its own version>.
CREATE TABLE schema_compatibility (oldest BIGINT NOT NULL);
INSERT INTO schema_compatibility (oldest) VALUES (4);
