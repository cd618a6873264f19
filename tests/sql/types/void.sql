-- A column of type unknown (version 3) has type VOID in Spark, and can be changed to any type.
-- proves: spark/every-type-opens

-- error format-version to 3
CREATE TABLE old (id INT, v VOID) USING iceberg TBLPROPERTIES ('format-version' = '2');

-- error NOT NULL
CREATE TABLE t (id INT, v VOID NOT NULL) USING iceberg TBLPROPERTIES ('format-version' = '3');

CREATE TABLE t (id INT, v VOID, s STRUCT<a: INT, v: VOID>) USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO t VALUES (1, NULL, named_struct('a', 1, 'v', NULL)), (2, NULL, NULL);

-- query
SELECT * FROM t WHERE v IS NULL ORDER BY id;
----
1 | NULL | {1, null}
2 | NULL | NULL

ALTER TABLE t ALTER COLUMN v TYPE STRING;

ALTER TABLE t ALTER COLUMN s.v TYPE DATE;

INSERT INTO t VALUES (3, 'three', named_struct('a', 3, 'v', DATE '2024-02-29'));

-- query
SELECT * FROM t ORDER BY id;
----
1 | NULL | {1, null}
2 | NULL | NULL
3 | three | {3, 2024-02-29}

CREATE TABLE q USING iceberg TBLPROPERTIES ('format-version' = '3') AS SELECT 1 AS id, NULL AS nothing;

-- query
DESCRIBE TABLE q;
----
id | int | NULL
nothing | void | NULL
