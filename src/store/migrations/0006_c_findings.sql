-- Of a finding of side `c`: what C does alone (`c-breaks`, `c-hangs`, `c-differs`), and what the sanitizer says, with the
-- stack. NULL: a finding about a port.
ALTER TABLE findings ADD COLUMN fault TEXT;
ALTER TABLE findings ADD COLUMN report TEXT;
