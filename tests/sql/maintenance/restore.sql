-- RESTORE TABLE restores an earlier state of the table, and returns the numbers of changed files and rows.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t SELECT /*+ COALESCE(1) */ * FROM VALUES (1), (2), (3);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let at
SELECT committed_at FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE TAG v1;

INSERT OVERWRITE t VALUES (4);

ALTER TABLE t CREATE BRANCH work;

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'work';

-- query
RESTORE TABLE t TO VERSION AS OF ${first};
----
${second} | ${first} | 1 | 1 | 3 | 1 | 0 | 0

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- query
RESTORE t TO VERSION AS OF 'work';
----
${first} | ${second} | 1 | 1 | 1 | 3 | 0 | 0

-- query
restore table `${catalog}`.`db`.`t` to timestamp as of '${at}';
----
${second} | ${first} | 1 | 1 | 3 | 1 | 0 | 0

-- query
RESTORE TABLE t TO VERSION AS OF '${second}';
----
${first} | ${second} | 1 | 1 | 1 | 3 | 0 | 0

-- query
RESTORE TABLE t TO VERSION AS OF 'v1';
----
${second} | ${first} | 1 | 1 | 3 | 1 | 0 | 0

-- Restoring the current snapshot commits nothing.
-- query
RESTORE TABLE t TO TIMESTAMP AS OF current_timestamp() + INTERVAL 1 DAY;
----
${first} | ${first} | 0 | 0 | 0 | 0 | 0 | 0

-- query
RESTORE TABLE t TO TIMESTAMP AS OF current_timestamp;
----
${first} | ${first} | 0 | 0 | 0 | 0 | 0 | 0

-- query
SELECT count(*) FROM ${catalog}.db.t.history;
----
7

-- error Snapshot not found: 7. The newest of 2 snapshots
RESTORE TABLE t TO VERSION AS OF 7;

-- error Did you mean work?
RESTORE TABLE t TO VERSION AS OF 'wrk';

-- error history starts at
RESTORE TABLE t TO TIMESTAMP AS OF '2001-01-01';

-- error It must be TIMESTAMP, not STRING
RESTORE TABLE t TO TIMESTAMP AS OF 'yesterday';

-- error It must be BIGINT, not DECIMAL(2,1)
RESTORE TABLE t TO VERSION AS OF 1.5;

-- error VERSION AS OF: NULL. A value is required
RESTORE TABLE t TO VERSION AS OF NULL;

-- error the name of a branch or tag must be in quotes: 'work'
RESTORE TABLE t TO VERSION AS OF work;

-- error near end of input: expected TO
RESTORE TABLE t;

-- error near '1': expected VERSION AS OF or TIMESTAMP AS OF
RESTORE TABLE t TO 1;

-- error near end of input: expected the id of a snapshot, or the name of a branch or tag in quotes
RESTORE TABLE t TO VERSION AS OF;

-- error TABLE_OR_VIEW_NOT_FOUND
RESTORE TABLE missing TO VERSION AS OF 1;

-- error The statement concerns the whole table
RESTORE TABLE ${catalog}.db.t.branch_work TO VERSION AS OF 1;
