-- What ports have taught, once for each kind and key. An iteration is the port of one symbol in one run, numbered over all
-- runs: see `iteration` in store/memory.rs.
CREATE TABLE memory (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('constraint', 'archetype', 'known_fix', 'decision', 'insight')),
    symbol     TEXT REFERENCES symbols (key),   -- where it was learned; NULL: at more than one
    key        TEXT NOT NULL,                   -- normalised
    text       TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source     TEXT NOT NULL,
    proven     INTEGER NOT NULL CHECK (proven IN (0, 1)),
    created    INTEGER NOT NULL,                -- iterations
    last_used  INTEGER NOT NULL,
    UNIQUE (kind, key)
) STRICT;
