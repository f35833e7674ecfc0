-- The seal of the entry in implfuzz.lock to which a verdict of this machine led.
ALTER TABLE evidence ADD COLUMN seal TEXT NOT NULL DEFAULT '';
