-- Dates are RFC 3339 in UTC; hashes are lower-case hex; lists are JSON.

CREATE TABLE symbols (
    key         TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    file        TEXT NOT NULL,
    line        INTEGER NOT NULL,
    module      TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('function', 'global')),
    unjudgeable TEXT,                -- why no harness can judge it; NULL: one can
    item_hash   TEXT NOT NULL,       -- of the C definition
    position    INTEGER NOT NULL,    -- porting order
    present     INTEGER NOT NULL     -- 0: the C library has it no longer; its history stays
) STRICT;

CREATE TABLE evidence (
    symbol        TEXT PRIMARY KEY REFERENCES symbols (key),
    c_hash        TEXT NOT NULL,
    contract_hash TEXT NOT NULL,
    harness_hash  TEXT NOT NULL,
    rust_hash     TEXT NOT NULL,
    grade         TEXT NOT NULL,
    executions    INTEGER NOT NULL,
    accept_rate   REAL,
    oracle_calls  INTEGER NOT NULL,
    subject_calls INTEGER NOT NULL,
    edges         INTEGER,
    seed          INTEGER NOT NULL,
    millis        INTEGER NOT NULL,
    callees_in_c  TEXT NOT NULL,
    provenance    TEXT NOT NULL,
    date          TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    id            INTEGER PRIMARY KEY,
    command       TEXT NOT NULL,
    workflow      TEXT,
    provider      TEXT,
    model         TEXT,
    tool_version  TEXT NOT NULL,
    process       INTEGER NOT NULL,  -- pid and start time tell whether an unfinished run is still running
    process_start TEXT NOT NULL,
    started       TEXT NOT NULL,
    finished      TEXT,
    outcome       TEXT
) STRICT;

CREATE TABLE attempts (
    id               INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL REFERENCES runs (id),
    symbol           TEXT NOT NULL REFERENCES symbols (key),
    number           INTEGER NOT NULL,
    role             TEXT NOT NULL,
    outcome          TEXT NOT NULL,
    detail           TEXT NOT NULL,
    candidate_sha256 TEXT,
    millis           INTEGER NOT NULL,
    created          TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_by_symbol ON attempts (symbol, run);
CREATE INDEX attempts_by_run ON attempts (run);

CREATE TABLE model_calls (
    id                 INTEGER PRIMARY KEY,
    run                INTEGER NOT NULL REFERENCES runs (id),
    symbol             TEXT REFERENCES symbols (key),
    role               TEXT NOT NULL,
    attempt            INTEGER NOT NULL,
    provider           TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    estimated          INTEGER NOT NULL,  -- 1: the provider gave no counts
    cost               REAL,              -- in the currency of the prices; NULL: no price known
    latency_ms         INTEGER NOT NULL,
    stop_reason        TEXT,
    prompt_sha256      TEXT NOT NULL,
    error              TEXT,
    created            TEXT NOT NULL
) STRICT;
CREATE INDEX model_calls_by_symbol ON model_calls (symbol, run);
CREATE INDEX model_calls_by_run ON model_calls (run);

CREATE TABLE findings (
    id               INTEGER PRIMARY KEY,
    symbol           TEXT NOT NULL REFERENCES symbols (key),
    class            TEXT NOT NULL,
    side             TEXT NOT NULL CHECK (side IN ('port', 'c')),
    what             TEXT NOT NULL,
    input            BLOB NOT NULL,
    input_sha256     TEXT NOT NULL,
    args             TEXT NOT NULL,
    oracle           TEXT NOT NULL,
    subject          TEXT NOT NULL,
    run              INTEGER REFERENCES runs (id),
    candidate_sha256 TEXT,
    created          TEXT NOT NULL,
    UNIQUE (symbol, class, what, input_sha256)
) STRICT;
