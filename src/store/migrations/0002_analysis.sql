-- What reading the C library gave, so that what did not change is not read again. `kind` is facts, declarations or
-- translation (of one unit: `subject` is its file), library or sync (of all: `subject` is empty). A row holds as
-- long as `fingerprint` is the same and every file in `inputs` (JSON: path to SHA-256) has its hash.
CREATE TABLE analysis (
    kind        TEXT NOT NULL CHECK (kind IN ('facts', 'declarations', 'translation', 'library', 'sync')),
    subject     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    inputs      TEXT NOT NULL,
    value       BLOB NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT;
