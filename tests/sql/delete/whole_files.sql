-- DELETE removes whole partitions, and whole files whose statistics show that all rows match.

CREATE TABLE t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, NULL);

DELETE FROM t WHERE p = 'a';

-- query
SELECT * FROM t ORDER BY id;
----
3 | b
4 | NULL

DELETE FROM t WHERE p IS NULL;

DELETE FROM t WHERE p = 'no such partition';

-- query
SELECT * FROM t;
----
3 | b

DELETE FROM t WHERE id >= 3;

-- query
SELECT count(*) FROM t;
----
0

INSERT INTO t VALUES (5, 'a'), (6, 'a');

DELETE FROM t;

-- query
SELECT count(*) FROM t;
----
0
