-- Procedures and OPTIMIZE change a branch, and leave main and the other branches unchanged.

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '2');

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE BRANCH b;

INSERT INTO ${catalog}.db.t.branch_b VALUES (2);

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'b';

INSERT INTO ${catalog}.db.t.branch_b VALUES (3);

INSERT INTO t VALUES (9);

-- let main
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'main';

-- query
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', branch => 'b');
----
3 | 1

-- query
OPTIMIZE ${catalog}.db.t.branch_b WHERE id > 0;
----
0 | 0 | 0 | 0 | 0 | []

-- error Branch not found: none. The branches are b, main
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', branch => 'none');

CALL ${catalog}.system.rollback_to_snapshot(table => 'db.t', snapshot_id => ${second}, branch => 'b');

-- error it is not an ancestor of the head of the branch b. Use REPLACE BRANCH
CALL ${catalog}.system.rollback_to_snapshot(table => 'db.t', snapshot_id => ${main}, branch => 'b');

-- query
SELECT id FROM ${catalog}.db.t.branch_b ORDER BY id;
----
1
2

CALL ${catalog}.system.cherrypick_snapshot(table => 'db.t', snapshot_id => ${main}, branch => 'b');

-- query
SELECT id FROM ${catalog}.db.t.branch_b ORDER BY id;
----
1
2
9

-- query
SELECT id FROM t ORDER BY id;
----
1
9

-- error no snapshot that is older than this timestamp
CALL ${catalog}.system.rollback_to_timestamp('db.t', TIMESTAMP '2001-01-01 00:00:00', 'b');

CALL ${catalog}.system.rollback_to_timestamp('db.t', TIMESTAMP '2101-01-01 00:00:00', 'b');

-- query
SELECT snapshot_id = ${main} FROM ${catalog}.db.t.refs WHERE name = 'main';
----
true

-- A staged change is published to a branch, not to main.
ALTER TABLE t SET TBLPROPERTIES ('write.wap.enabled' = 'true');

SET spark.wap.id = w1;

INSERT INTO t VALUES (7);

RESET spark.wap.id;

CALL ${catalog}.system.publish_changes(table => 'db.t', wap_id => 'w1', branch => 'b');

-- query
SELECT id FROM ${catalog}.db.t.branch_b ORDER BY id;
----
1
2
7
9

-- query
SELECT id FROM t ORDER BY id;
----
1
9

ALTER TABLE t CREATE TAG v1;

-- error It is a tag, and only branches can be written to
CALL ${catalog}.system.cherrypick_snapshot(table => 'db.t', snapshot_id => ${second}, branch => 'v1');

-- error It applies to the table or to a branch
OPTIMIZE ${catalog}.db.t.tag_v1;
