-- The entry in implfuzz.lock is the record of a verdict. Here stays what tells whether this machine came to it.
ALTER TABLE evidence DROP COLUMN executions;
ALTER TABLE evidence DROP COLUMN accept_rate;
ALTER TABLE evidence DROP COLUMN callees_in_c;
ALTER TABLE evidence DROP COLUMN provenance;
ALTER TABLE evidence DROP COLUMN date;
ALTER TABLE evidence DROP COLUMN proofs;
