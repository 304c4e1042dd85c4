package database

// What the numbers in a file mean. A step is never changed once it was in a release: what is to be otherwise is a
// further step.
//
// Instants are microseconds since 1970 in UTC, spans microseconds unless their name says otherwise. Tables are STRICT,
// so that what is in a column is what the column says.
var steps = []string{
	`CREATE TABLE jobs (
		id        INTEGER PRIMARY KEY,
		run       TEXT NOT NULL UNIQUE, -- name of the run, by which a job is kept once
		name      TEXT NOT NULL,
		state     TEXT NOT NULL,        -- succeeded, failed, cancelled
		policy    TEXT NOT NULL,
		slots     INTEGER NOT NULL,     -- of all jobs; 0 if not known
		submitted INTEGER,              -- NULL of what was kept before there was a database
		started   INTEGER,
		ended     INTEGER,
		deadline  INTEGER,
		broken    INTEGER NOT NULL,     -- 1: its flow time says little
		output    TEXT NOT NULL,
		command   TEXT NOT NULL,        -- digest
		spec      TEXT,                 -- sched.JobSpec as JSON
		attempts  INTEGER NOT NULL,
		clones    INTEGER NOT NULL,
		fruitful  INTEGER NOT NULL,
		fruitless INTEGER NOT NULL,
		flow      INTEGER NOT NULL      -- from submission to end; 0 if not known
	) STRICT;
	CREATE INDEX jobs_by_name ON jobs (name, submitted);
	CREATE INDEX jobs_by_time ON jobs (submitted);
	CREATE INDEX jobs_by_end ON jobs (ended);

	CREATE TABLE stages (
		job           INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
		stage         INTEGER NOT NULL, -- from 0
		name          TEXT NOT NULL,
		tasks         INTEGER NOT NULL,
		class         TEXT NOT NULL,
		shuffle_bytes INTEGER NOT NULL,
		sample        TEXT NOT NULL,    -- at most 1000 durations, as JSON; it stays when the attempts go
		PRIMARY KEY (job, stage)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE attempts (
		job    INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
		stage  INTEGER NOT NULL,
		task   INTEGER NOT NULL,
		number INTEGER NOT NULL, -- of the attempt within its task
		began  INTEGER NOT NULL, -- after the job was submitted
		ran    INTEGER NOT NULL,
		ending INTEGER NOT NULL, -- index in the table of endings
		clone  INTEGER NOT NULL,
		done   REAL NOT NULL,    -- part of the task that was done before
		PRIMARY KEY (job, stage, task, number)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE endings (ending INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
	INSERT INTO endings VALUES (0, 'running'), (1, 'won'), (2, 'lost'), (3, 'failed'), (4, 'killed'), (5, 'refused'), (6, 'crashed');

	CREATE TABLE promises (
		job  INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
		made INTEGER NOT NULL,
		ends TEXT NOT NULL, -- JSON list of instants, quantiles at the levels of package promise
		PRIMARY KEY (job, made)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE imported ( -- files of durations that were taken in, as they were then
		file     TEXT PRIMARY KEY,
		size     INTEGER NOT NULL,
		modified INTEGER NOT NULL
	) STRICT;`,
	// bytes: that each reader of an attempt's result reads; 0 if not known. class_slots: as in map=4,shuffle=2
	`ALTER TABLE attempts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE jobs ADD COLUMN class_slots TEXT NOT NULL DEFAULT ''`,
}
