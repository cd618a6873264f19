-- An earlier state is restored by snapshot id, by branch or tag, or by timestamp. The result contains the numbers of
-- changed files and rows.

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');

INSERT INTO t SELECT /*+ COALESCE(1) */ * FROM VALUES (1), (2), (3);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let at
SELECT committed_at FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE TAG v1;

DELETE FROM t WHERE id = 2;

INSERT INTO t VALUES (4);

-- let last
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'main';

-- query
CALL ${catalog}.system.restore('db.t', ${first});
----
${last} | ${first} | 0 | 1 | 0 | 1 | 0 | 1

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- query
CALL ${catalog}.system.restore(table => 'db.t', snapshot_id => ${last});
----
${first} | ${last} | 1 | 0 | 1 | 0 | 1 | 0

-- query
CALL ${catalog}.system.restore(table => 'db.t', ref => 'v1');
----
${last} | ${first} | 0 | 1 | 0 | 1 | 0 | 1

-- query
CALL ${catalog}.system.restore(table => 'db.t', timestamp => TIMESTAMP '${at}');
----
${first} | ${first} | 0 | 0 | 0 | 0 | 0 | 0

-- error Set exactly one of snapshot_id, ref and timestamp
CALL ${catalog}.system.restore('db.t');

-- error Set exactly one of snapshot_id, ref and timestamp
CALL ${catalog}.system.restore('db.t', ${first}, 'v1');

-- error Did you mean v1?
CALL ${catalog}.system.restore(table => 'db.t', ref => 'v2');

-- error Snapshot not found: 7. The newest of 3 snapshots
CALL ${catalog}.system.restore('db.t', 7);

-- error history starts at
CALL ${catalog}.system.restore(table => 'db.t', timestamp => '2001-01-01');
