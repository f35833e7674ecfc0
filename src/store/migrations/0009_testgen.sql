-- Generated tests: how they are generated, what came of it, and how the configuration evolves. What was not measured is NULL.

CREATE TABLE testgen_configs (
    id                       INTEGER PRIMARY KEY,
    config_hash              TEXT NOT NULL UNIQUE,   -- of the fields from `version` on
    is_current               INTEGER NOT NULL CHECK (is_current IN (0, 1)),
    created_at               TEXT NOT NULL,
    version                  TEXT NOT NULL,
    temperature              REAL CHECK (temperature BETWEEN 0 AND 2),   -- NULL: the provider's own
    max_tokens               INTEGER NOT NULL,
    min_tests_per_category   INTEGER NOT NULL CHECK (min_tests_per_category >= 2),
    max_tests_per_category   INTEGER NOT NULL CHECK (max_tests_per_category >= min_tests_per_category),
    max_rounds_per_category  INTEGER NOT NULL,
    environment_weight       REAL NOT NULL CHECK (environment_weight BETWEEN 0 AND 1),
    anti_cheat_weight        REAL NOT NULL CHECK (anti_cheat_weight BETWEEN 0 AND 1),
    precision_weight         REAL NOT NULL CHECK (precision_weight BETWEEN 0 AND 1),
    category_order           TEXT NOT NULL,          -- JSON
    category_prompts         TEXT NOT NULL,          -- JSON
    anti_cheat_prompt        TEXT NOT NULL,
    reflection_prompt        TEXT NOT NULL,
    primary_model            TEXT NOT NULL CHECK (primary_model IN ('local', 'claude')),
    reflection_model         TEXT NOT NULL CHECK (reflection_model IN ('local', 'claude')),
    min_comprehensiveness    REAL NOT NULL CHECK (min_comprehensiveness BETWEEN 0 AND 10),
    target_comprehensiveness REAL NOT NULL CHECK (target_comprehensiveness BETWEEN 0 AND 10),
    min_total_tests          INTEGER NOT NULL,
    target_total_tests       INTEGER NOT NULL,
    max_total_rounds         INTEGER NOT NULL,
    max_total_tokens         INTEGER NOT NULL,
    max_total_seconds        INTEGER NOT NULL,
    global_refinement        INTEGER NOT NULL CHECK (global_refinement IN (0, 1)),
    global_refinement_rounds INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX testgen_configs_current ON testgen_configs (is_current) WHERE is_current = 1;

CREATE TABLE testgen_runs (
    id                       INTEGER PRIMARY KEY,    -- in the order in which they were saved
    run_id                   TEXT NOT NULL UNIQUE,
    session                  INTEGER REFERENCES runs (id),
    config                   INTEGER NOT NULL REFERENCES testgen_configs (id),
    symbol                   TEXT NOT NULL REFERENCES symbols (key),
    task_type                TEXT,                   -- kind of the function; NULL: it has none
    context                  TEXT NOT NULL,
    valid                    INTEGER NOT NULL,       -- of the tests that were proposed; so are the next two
    dropped                  INTEGER NOT NULL,
    duplicates               INTEGER NOT NULL,
    kept                     INTEGER NOT NULL,       -- tests that were written out
    rounds                   INTEGER NOT NULL,
    reflections              INTEGER NOT NULL,
    category_distribution    TEXT NOT NULL,          -- JSON
    category_balance         REAL NOT NULL CHECK (category_balance BETWEEN 0 AND 1),
    anti_cheat_coverage      REAL CHECK (anti_cheat_coverage BETWEEN 0 AND 1),
    parameter_discovery      REAL CHECK (parameter_discovery BETWEEN 0 AND 1),
    reflection_effectiveness REAL CHECK (reflection_effectiveness BETWEEN 0 AND 1),
    token_efficiency         REAL CHECK (token_efficiency BETWEEN 0 AND 1),
    comprehensiveness        REAL CHECK (comprehensiveness BETWEEN 0 AND 10),
    kill_rate                REAL CHECK (kill_rate BETWEEN 0 AND 1),
    branch_coverage          REAL CHECK (branch_coverage BETWEEN 0 AND 1),
    valid_share              REAL CHECK (valid_share BETWEEN 0 AND 1),
    duplicate_share          REAL CHECK (duplicate_share BETWEEN 0 AND 1),
    prediction_agreement     REAL CHECK (prediction_agreement BETWEEN 0 AND 1),
    brier_score              REAL CHECK (brier_score BETWEEN 0 AND 1),
    self_assessment          REAL,                   -- the model's own; no formula uses it
    tokens                   INTEGER NOT NULL,
    duration_ms              INTEGER NOT NULL,
    meta_model               TEXT,
    proposed_change          TEXT,                   -- JSON
    change_accepted          INTEGER CHECK (change_accepted IN (0, 1)),
    score                    INTEGER CHECK (score BETWEEN 0 AND 1000),
    is_best                  INTEGER NOT NULL CHECK (is_best IN (0, 1)),   -- of its symbol
    created_at               TEXT NOT NULL
) STRICT;
CREATE INDEX testgen_runs_by_symbol ON testgen_runs (symbol);
CREATE INDEX testgen_runs_by_config ON testgen_runs (config, task_type);
CREATE INDEX testgen_runs_by_score ON testgen_runs (score);
CREATE INDEX testgen_runs_by_date ON testgen_runs (created_at);

CREATE TABLE testgen_tests (
    run              TEXT NOT NULL REFERENCES testgen_runs (run_id),
    number           INTEGER NOT NULL,               -- from 1, in the order in which they came
    id               TEXT NOT NULL,
    category         TEXT NOT NULL
        CHECK (category IN ('anti_cheat', 'existence', 'correctness', 'boundary', 'integration')),
    input            TEXT NOT NULL,                  -- JSON, canonical where it is valid
    predicted_output TEXT,                           -- JSON; the model's
    measured_output  TEXT,                           -- JSON; C's
    reasoning        TEXT NOT NULL,
    confidence       REAL CHECK (confidence BETWEEN 0 AND 1),
    valid            INTEGER NOT NULL CHECK (valid IN (0, 1)),
    dropped          TEXT CHECK ((dropped IS NULL) = valid),   -- why it is not valid
    kills            TEXT,                           -- JSON, names of mutants; NULL: none was run
    kept             INTEGER NOT NULL CHECK (kept IN (0, 1) AND kept <= valid),
    PRIMARY KEY (run, number),
    UNIQUE (run, id)
) STRICT;

CREATE TABLE testgen_best_configs (
    task_type   TEXT PRIMARY KEY,                    -- kind of function, or `_global_`
    config      INTEGER NOT NULL REFERENCES testgen_configs (id),
    run         TEXT NOT NULL REFERENCES testgen_runs (run_id),   -- its best
    score       REAL NOT NULL CHECK (score BETWEEN 0 AND 1000),   -- mean over its runs
    pass_count  INTEGER NOT NULL,                    -- runs that came to the least comprehensiveness
    total_runs  INTEGER NOT NULL CHECK (total_runs >= pass_count),
    is_override INTEGER NOT NULL CHECK (is_override IN (0, 1)),   -- it is not the one of `_global_`
    updated_at  TEXT NOT NULL
) STRICT;

CREATE TABLE testgen_evolution (
    id                   INTEGER PRIMARY KEY,
    from_config          INTEGER NOT NULL REFERENCES testgen_configs (id),
    to_config            INTEGER REFERENCES testgen_configs (id),   -- NULL: no candidate came of it
    type                 TEXT NOT NULL CHECK (type IN ('keep', 'update_params', 'update_prompts', 'update_weights')),
    changes              TEXT NOT NULL,              -- JSON
    reasoning            TEXT NOT NULL,
    expected_improvement REAL,                       -- points of the score; the model's
    actual_improvement   REAL,                       -- points of the score; NULL: not measured
    quality_delta        REAL,                       -- of comprehensiveness
    accepted             INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    reason               TEXT NOT NULL,
    created_at           TEXT NOT NULL,
    CHECK (accepted = 0 OR to_config IS NOT NULL)
) STRICT;
CREATE INDEX testgen_evolution_by_config ON testgen_evolution (from_config);
CREATE INDEX testgen_evolution_by_date ON testgen_evolution (created_at);
