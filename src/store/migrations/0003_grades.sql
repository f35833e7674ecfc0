-- Grades rest on proofs: what is missing for `verified` stands beside the grade, what was measured is kept whole (JSON).
ALTER TABLE evidence ADD COLUMN shortcomings TEXT NOT NULL DEFAULT '[]';
ALTER TABLE evidence ADD COLUMN proofs TEXT NOT NULL DEFAULT '{}';
UPDATE evidence SET grade = 'weak', shortcomings = '["judged before proofs were kept"]' WHERE grade = 'unrefuted';

-- What was measured of a function without its port, so that it is not measured again. A row holds as long as `about`,
-- a hash of all that it depends on, is the same.
CREATE TABLE measures (
    symbol TEXT NOT NULL REFERENCES symbols (key),
    kind   TEXT NOT NULL CHECK (kind IN ('adequacy')),
    about  TEXT NOT NULL,
    value  TEXT NOT NULL,
    date   TEXT NOT NULL,
    PRIMARY KEY (symbol, kind)
) STRICT;
