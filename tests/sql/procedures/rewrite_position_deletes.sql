-- Position delete files of a partition are combined; after an upgrade they become deletion vectors.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p)
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'file');

INSERT INTO t VALUES (1, 1), (2, 1);

INSERT INTO t VALUES (3, 1), (4, 1);

INSERT INTO t VALUES (5, 2), (6, 2);

DELETE FROM t WHERE id IN (2, 4, 6);

-- query
SELECT count(*) FROM ${catalog}.db.t.delete_files;
----
3

-- query
CALL ${catalog}.system.rewrite_position_delete_files('db.t');
----
0 | 0 | 0 | 0

ALTER TABLE t SET TBLPROPERTIES ('write.delete.granularity' = 'partition');

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'), where => 'p = 1', dry_run => true);

-- query
SELECT count(*) FROM ${catalog}.db.t.delete_files;
----
3

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'), where => 'p = 1');

-- query
SELECT partition.p, record_count FROM ${catalog}.db.t.delete_files ORDER BY 1;
----
1 | 2
2 | 1

ALTER TABLE t CREATE BRANCH work;

-- let main
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'main';

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', branch => 'work', options => map('rewrite-all', 'true'));

-- query
SELECT name, snapshot_id = ${main} FROM ${catalog}.db.t.refs ORDER BY name;
----
main | true
work | false

-- query
SELECT id FROM ${catalog}.db.t VERSION AS OF 'work' ORDER BY id;
----
1
3
5

INSERT INTO t VALUES (2, 1);

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3
5

ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3');

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'));

-- query
SELECT file_format, record_count FROM ${catalog}.db.t.delete_files ORDER BY 2;
----
PUFFIN | 1
PUFFIN | 1
PUFFIN | 1

-- query
CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-all', 'true'));
----
0 | 0 | 0 | 0

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3
5

-- error Did you mean rewrite-all
CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', options => map('rewrite-al', 'true'));

-- error No part of it can be evaluated on files
CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.t', where => 'hash(id) = 5');
