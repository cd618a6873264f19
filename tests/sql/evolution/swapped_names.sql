-- Two columns swap their names: values stay with their columns, even in filters.

CREATE TABLE t (a INT, b INT) USING iceberg;

INSERT INTO t VALUES (1, 2);

ALTER TABLE t RENAME COLUMN a TO c;

ALTER TABLE t RENAME COLUMN b TO a;

ALTER TABLE t RENAME COLUMN c TO b;

-- query
SELECT a, b FROM t WHERE a = 2 AND b = 1;
----
2 | 1

-- query
SELECT count(*) FROM t WHERE a = 1;
----
0
