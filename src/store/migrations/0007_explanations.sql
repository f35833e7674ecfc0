-- What a model makes of a finding about C: a class, a cause, and whether real callers can bring it about. NULL: nobody was asked.
ALTER TABLE findings ADD COLUMN explanation TEXT;
