-- Statistics of columns are computed and registered.

CREATE TABLE t (id INT, name STRING, s STRUCT<x: INT>) USING iceberg;

-- query
CALL ${catalog}.system.compute_table_stats('db.t');
----

INSERT INTO t VALUES (1, 'a', NULL), (2, 'a', NULL);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (3, 'c', NULL);

CALL ${catalog}.system.compute_table_stats('db.t');

CALL ${catalog}.system.compute_table_stats(table => 'db.t', snapshot_id => ${first}, columns => array('name', 'id'));

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', snapshot_ids => array(${first}));
----
0 | 0 | 0 | 0 | 1 | 1 | [] | NULL

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- error Column not found: nam. Did you mean name?
CALL ${catalog}.system.compute_table_stats(table => 'db.t', columns => array('nam'));

-- error choose other columns
CALL ${catalog}.system.compute_table_stats(table => 'db.t', columns => array('s'));

-- error Snapshot not found: 42
CALL ${catalog}.system.compute_table_stats('db.t', 42);
