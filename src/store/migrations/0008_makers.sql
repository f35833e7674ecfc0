-- Who wrote a candidate: a model's name, or c2rust. NULL: from before it was kept.
ALTER TABLE attempts ADD COLUMN maker TEXT;
