-- Where a finding was found, if not by a harness: the driver, and the number of the call.
ALTER TABLE findings ADD COLUMN place TEXT;

-- A function has a mutation score for its harness, and one for drivers' executions.
CREATE TABLE measures_of_both (
    symbol TEXT NOT NULL REFERENCES symbols (key),
    kind   TEXT NOT NULL CHECK (kind IN ('adequacy', 'in-place')),
    about  TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (symbol, kind)
) STRICT;
INSERT INTO measures_of_both SELECT symbol, kind, about, value FROM measures;
DROP TABLE measures;
ALTER TABLE measures_of_both RENAME TO measures;
