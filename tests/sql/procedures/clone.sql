-- A clone is a new table that uses the files of a snapshot of another table.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('a' = 'b');

INSERT INTO t VALUES (1, 1), (2, 2);

ALTER TABLE t CREATE TAG first;

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (3, 1);

DELETE FROM t WHERE id = 2;

CALL ${catalog}.system.clone('db.t', 'db.c');

-- query
SELECT * FROM c ORDER BY id;
----
1 | 1
3 | 1

-- query
SELECT count(*) FROM ${catalog}.db.c.snapshots;
----
1

CALL ${catalog}.system.clone(source_table => '${catalog}.db.t', table => 'db.tagged', ref => 'first', properties => map('a', 'c', 'd', 'e'));

-- query
SELECT * FROM tagged ORDER BY id;
----
1 | 1
2 | 2

-- query
SHOW TBLPROPERTIES tagged ('gc.enabled');
----
gc.enabled | false

-- query
SHOW TBLPROPERTIES tagged ('iceberg-lite.cloned-from');
----
iceberg-lite.cloned-from | ${catalog}.db.t

-- query
SHOW TBLPROPERTIES tagged ('a');
----
a | c

CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.old', snapshot_id => ${first});

-- query
SELECT snapshot_id = ${first}, parent_id FROM ${catalog}.db.old.snapshots;
----
true | NULL

INSERT INTO c VALUES (4, 4);

DELETE FROM c WHERE id = 1;

-- query
SELECT * FROM c ORDER BY id;
----
3 | 1
4 | 4

-- query
SELECT * FROM t ORDER BY id;
----
1 | 1
3 | 1

-- error gc.enabled
DROP TABLE c PURGE;

-- DROP TABLE in a file-system catalog deletes the files of the table. Therefore it requires the property gc.enabled.

ALTER TABLE c SET TBLPROPERTIES ('gc.enabled' = 'true');

DROP TABLE c PURGE;

-- query
SELECT * FROM t ORDER BY id;
----
1 | 1
3 | 1

-- error already exists
CALL ${catalog}.system.clone('db.t', 'db.tagged');

-- error Snapshot not found: 42
CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.u', snapshot_id => 42);

-- error not found: nothing
CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.u', ref => 'nothing');

-- error Set only one of them
CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.u', ref => 'first', snapshot_id => ${first});

-- error created with the value false
CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.u', properties => map('gc.enabled', 'true'));

-- error nothing
CALL ${catalog}.system.clone('db.nothing', 'db.u');

CREATE TABLE v (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO v SELECT explode(array(1, 2, 3));

DELETE FROM v WHERE id = 2;

CALL ${catalog}.system.clone('db.v', 'db.w');

INSERT INTO w VALUES (4);

-- query
SELECT id, _row_id FROM w ORDER BY id;
----
1 | 0
3 | 2
4 | 5
