-- How the last run that did not port a function ended, and why. Gone where a port was accepted since.
CREATE TABLE ends (
    symbol TEXT PRIMARY KEY REFERENCES symbols (key),
    run    INTEGER NOT NULL REFERENCES runs (id),
    word   TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
