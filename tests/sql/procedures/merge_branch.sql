-- The commits of a branch are applied to main, which has commits of its own.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES (
  'format-version' = '3', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'
);

INSERT INTO t SELECT CAST(id AS INT), IF(id < 10, 'a', 'b') FROM range(0, 20, 1, 1);

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (100, 'c');

DELETE FROM ${catalog}.db.t.branch_work WHERE id IN (1, 2);

UPDATE ${catalog}.db.t.branch_work SET id = id + 1000 WHERE id = 3;

DELETE FROM t WHERE id = 5;

INSERT INTO t VALUES (200, 'c');

CALL ${catalog}.system.merge_branch('db.t', 'work');

-- query
SELECT id FROM t WHERE id < 6 OR id >= 20 ORDER BY id;
----
0
4
100
200
1003

-- query
SELECT count(*) FROM t;
----
19

-- query
SELECT count(*) FROM ${catalog}.db.t.branch_work;
----
19

-- Each new snapshot of main names the snapshot of the branch.
-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots WHERE summary['source-snapshot-id'] IS NOT NULL;
----
3

-- let merged
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'main';

-- A merged branch is not merged again.
-- query
CALL ${catalog}.system.merge_branch('db.t', 'work');
----
main | ${merged} | ${merged} | 0

-- A branch without other commits is fast-forwarded.
ALTER TABLE t CREATE BRANCH next;

INSERT INTO ${catalog}.db.t.branch_next VALUES (300, 'a');

-- let next
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'next';

-- query
CALL ${catalog}.system.merge_branch(table => 'db.t', branch => 'next', to => 'main');
----
main | ${merged} | ${next} | 1

-- Overlapping changes are rejected, and nothing changes.
ALTER TABLE t CREATE BRANCH other;

UPDATE ${catalog}.db.t.branch_other SET id = id + 1 WHERE id = 15;

UPDATE t SET id = id - 1 WHERE id = 15;

-- error Cannot merge the branch other into main
CALL ${catalog}.system.merge_branch('db.t', 'other');

-- query
SELECT id FROM t WHERE id IN (14, 15, 16) ORDER BY id;
----
14
14
16

-- error Branch not found: nothing
CALL ${catalog}.system.merge_branch('db.t', 'nothing');

-- error A branch cannot be merged into itself
CALL ${catalog}.system.merge_branch('db.t', 'main');
