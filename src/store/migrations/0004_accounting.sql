-- Why each step of a port was taken and what came of it. A row is written before the step and completed after it: one
-- without an outcome was under way when the process ended.
CREATE TABLE steps (
    id      INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES runs (id),
    symbol  TEXT NOT NULL REFERENCES symbols (key),
    number  INTEGER NOT NULL,   -- from 1, over the steps for a symbol in a run
    phase   TEXT NOT NULL CHECK (phase IN ('compilation', 'optimization')),
    step    TEXT NOT NULL,
    why     TEXT NOT NULL,
    outcome TEXT,
    detail  TEXT NOT NULL,
    millis  INTEGER,
    created TEXT NOT NULL,
    UNIQUE (symbol, run, number)
) STRICT;
CREATE INDEX steps_by_run ON steps (run);

-- Where a call belongs, and how often it was sent again before it was answered. NULL: from before this was kept, and
-- `retries` also where no answer came.
ALTER TABLE model_calls ADD COLUMN phase TEXT CHECK (phase IN ('compilation', 'optimization'));
ALTER TABLE model_calls ADD COLUMN step INTEGER REFERENCES steps (id);
ALTER TABLE model_calls ADD COLUMN retries INTEGER;
