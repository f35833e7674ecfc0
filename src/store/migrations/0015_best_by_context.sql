-- The best configurations are those of runs in one context: runs that asked for other categories are no measure of them.
-- The next run of a kind of function and context fills its row.
DROP TABLE testgen_best_configs;
CREATE TABLE testgen_best_configs (
    task_type   TEXT NOT NULL,                       -- kind of function, or `_global_`
    context     TEXT NOT NULL,
    config      INTEGER NOT NULL REFERENCES testgen_configs (id),
    run         TEXT NOT NULL REFERENCES testgen_runs (run_id),   -- its best
    score       REAL NOT NULL CHECK (score BETWEEN 0 AND 1000),   -- mean over its runs
    pass_count  INTEGER NOT NULL,                    -- runs that came to the least comprehensiveness
    total_runs  INTEGER NOT NULL CHECK (total_runs >= pass_count),
    is_override INTEGER NOT NULL CHECK (is_override IN (0, 1)),   -- it is not the one of `_global_`
    updated_at  TEXT NOT NULL,
    PRIMARY KEY (task_type, context)
) STRICT;
