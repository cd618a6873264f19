-- A table is rolled back to an earlier snapshot, by id or by timestamp.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

INSERT INTO t VALUES (2);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots WHERE parent_id IS NULL;

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.snapshots WHERE parent_id IS NOT NULL;

-- let at
SELECT committed_at FROM ${catalog}.db.t.snapshots WHERE parent_id IS NOT NULL;

-- query
CALL ${catalog}.system.rollback_to_snapshot('db.t', ${first});
----
${second} | ${first}

-- query
SELECT * FROM t;
----
1

-- error rollback_to_snapshot
CALL ${catalog}.system.rollback_to_snapshot('db.t', ${second});

CALL ${catalog}.system.set_current_snapshot('db.t', ${second});

-- query
CALL ${catalog}.system.rollback_to_timestamp(table => 'db.t', timestamp => TIMESTAMP '${at}');
----
${second} | ${first}

-- error has no snapshot that is older
CALL ${catalog}.system.rollback_to_timestamp('db.t', TIMESTAMP '2001-01-01 00:00:00');

-- Text is parsed as a timestamp, and an expression is evaluated.
CALL ${catalog}.system.rollback_to_timestamp('t', current_timestamp() + INTERVAL 1 DAY);

CALL ${catalog}.system.rollback_to_timestamp('t', '2100-01-01');

-- query
SELECT made_current_at IS NOT NULL, snapshot_id = ${first} FROM ${catalog}.db.t.history
ORDER BY made_current_at DESC LIMIT 1;
----
true | true

-- error Snapshot not found: 7
CALL ${catalog}.system.rollback_to_snapshot('db.t', 7);

-- error It must be TIMESTAMP
CALL ${catalog}.system.rollback_to_timestamp('db.t', 'yesterday evening');

-- error It must be TIMESTAMP
CALL ${catalog}.system.rollback_to_timestamp('db.t', true);
