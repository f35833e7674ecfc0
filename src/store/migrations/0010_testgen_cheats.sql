-- Planted cheats that a generated test tells from C stood among the mutants that it kills, as "cheat: …". NULL: it was not run.
ALTER TABLE testgen_tests ADD COLUMN cheats TEXT;          -- JSON, names of cheats
UPDATE testgen_tests SET
    cheats = (SELECT json_group_array(substr(value, 8)) FROM json_each(kills) WHERE value LIKE 'cheat: %'),
    kills = (SELECT json_group_array(value) FROM json_each(kills) WHERE value NOT LIKE 'cheat: %')
WHERE kills IS NOT NULL;
-- Mutants of what the function calls. NULL: there were none to run.
ALTER TABLE testgen_runs ADD COLUMN callee_kill_rate REAL CHECK (callee_kill_rate BETWEEN 0 AND 1);
-- Tests of existence, which the tool makes, count as valid ones, as they did among those that are kept.
UPDATE testgen_runs SET valid = valid + coalesce(json_extract(category_distribution, '$.existence'), 0);
-- The best run of a symbol is the one whose tests tell the most, not the one with the highest score.
UPDATE testgen_runs SET is_best = id IS (
    SELECT other.id FROM testgen_runs AS other WHERE other.symbol = testgen_runs.symbol AND other.kept > 0
    ORDER BY other.comprehensiveness DESC NULLS LAST, other.anti_cheat_coverage DESC NULLS LAST, other.kept DESC, other.id DESC LIMIT 1);
