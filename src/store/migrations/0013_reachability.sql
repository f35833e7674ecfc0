-- Whether callers can bring a C fault about, as a model says it (JSON: feasible, reachable, security, evidence). NULL: not asked.
ALTER TABLE findings ADD COLUMN reachability TEXT;
