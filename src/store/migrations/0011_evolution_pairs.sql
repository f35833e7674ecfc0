-- Rounds from before this migration keep NULL in both: their pairs were not stored.
ALTER TABLE testgen_evolution ADD COLUMN scores TEXT;       -- JSON: the scores of both configurations, symbol by symbol
ALTER TABLE testgen_evolution ADD COLUMN lower_bound REAL;  -- lower end of the 95 % interval of the mean gain; NULL: not measured
