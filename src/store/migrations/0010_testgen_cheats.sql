-- Planted cheats that a generated test tells from C stood among the mutants that it kills, as "cheat: …". NULL: it was not run.
ALTER TABLE testgen_tests ADD COLUMN cheats TEXT;          -- JSON, names of cheats
UPDATE testgen_tests SET
    cheats = (SELECT json_group_array(substr(value, 8)) FROM json_each(kills) WHERE value LIKE 'cheat: %'),
    kills = (SELECT json_group_array(value) FROM json_each(kills) WHERE value NOT LIKE 'cheat: %')
WHERE kills IS NOT NULL;
-- Tests of existence, which the tool makes, count as valid ones, as they did among those that are kept.
UPDATE testgen_runs SET valid = valid + coalesce(json_extract(category_distribution, '$.existence'), 0);
