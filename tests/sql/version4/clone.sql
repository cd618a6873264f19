-- A clone of a table of format version 4 has the expressions of its source with their ids, so that it finds the
-- partition values in the manifests of its source.

CREATE TABLE t (id BIGINT, name STRING) USING iceberg PARTITIONED BY (bucket(4, id), truncate(1, name))
TBLPROPERTIES ('format-version' = '4', 'write.v4.single-commit-max-files' = '2', 'write.delete.mode' = 'merge-on-read');

INSERT INTO t SELECT id, CAST(id AS STRING) FROM range(20);

ALTER TABLE t ADD COLUMN n INT;

ALTER TABLE t ADD PARTITION FIELD bucket(2, n);

INSERT INTO t VALUES (100, 'x', 7);

DELETE FROM t WHERE id IN (3, 15);

CALL ${catalog}.system.create_expression('db.t', 'truncate(10, n)', 'tens');

CALL ${catalog}.system.clone('db.t', 'db.c');

-- query
CALL ${catalog}.system.expressions('db.c');
----
3 | id_bucket | bucket(4, id) | 1000
4 | name_trunc | truncate(1, name) | 1001
6 | n_bucket_2 | bucket(2, n) | 1002
7 | tens | truncate(10, n) | NULL

-- query
SELECT count(*), sum(id) FROM c;
----
19 | 272

-- query
SELECT id, name FROM c WHERE id = 7 OR name = '12' OR n = 7 ORDER BY id;
----
7 | 7
12 | 12
100 | x

-- query
CALL ${catalog}.system.validate_tree('db.c');
----

INSERT INTO c VALUES (200, 'y', 8);

DELETE FROM c WHERE id BETWEEN 5 AND 8;

INSERT INTO t VALUES (300, 'z', 9);

-- query
SELECT count(*), sum(id), count(DISTINCT _row_id) FROM c;
----
16 | 446 | 16

-- query
SELECT count(*), sum(id) FROM t;
----
20 | 572

-- query
CALL ${catalog}.system.validate_tree('db.c');
----
