-- The changes of one snapshot are applied to the current table.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (2);

-- let two
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'work';

INSERT INTO ${catalog}.db.t.branch_work VALUES (3);

-- let three
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'work';

INSERT INTO t VALUES (4);

CALL ${catalog}.system.cherrypick_snapshot('db.t', ${three});

-- query
SELECT * FROM t ORDER BY id;
----
1
3
4

-- query
SELECT summary['source-snapshot-id'] = ${three} FROM ${catalog}.db.t.snapshots
WHERE summary['source-snapshot-id'] IS NOT NULL;
----
true

-- error ${three}
CALL ${catalog}.system.cherrypick_snapshot('db.t', ${three});

-- error Snapshot not found: 7
CALL ${catalog}.system.cherrypick_snapshot('db.t', 7);

-- A snapshot whose parent is the current snapshot becomes current, without a new snapshot.
CALL ${catalog}.system.set_current_snapshot('db.t', (SELECT parent_id FROM ${catalog}.db.t.snapshots WHERE snapshot_id = ${two}));

-- query
CALL ${catalog}.system.cherrypick_snapshot('db.t', ${two});
----
${two} | ${two}

-- query
SELECT * FROM t ORDER BY id;
----
1
2
