-- COUNT, MIN and MAX, which metadata can answer, are correct before and after changes to the table.

CREATE TABLE t (id BIGINT, k INT, x DOUBLE, p STRING) USING iceberg PARTITIONED BY (p);

-- query
SELECT count(*), count(k), min(k), max(p) FROM t;
----
0 | 0 | NULL | NULL

-- query
SELECT p, count(*) FROM t GROUP BY p;
----

INSERT INTO t VALUES (1, 10, 1.5, 'a'), (2, NULL, double('NaN'), 'a'), (3, -7, -2.5, NULL);

INSERT INTO t VALUES (4, 12, 0.0, 'b'), (5, NULL, NULL, 'b');

-- query
SELECT count(*), count(k), min(k), max(k), min(p), max(p), min(x), max(x) FROM t;
----
5 | 3 | -7 | 12 | a | b | -2.5 | NaN

-- query rowsort
SELECT p, count(*), max(id), min(k), max(x) FROM t GROUP BY p;
----
NULL | 1 | 3 | -7 | -2.5
a | 2 | 2 | 10 | NaN
b | 2 | 5 | 12 | 0.0

-- query rowsort
SELECT p, count(*) + 1 FROM t WHERE id > 1 GROUP BY p HAVING count(*) > 1;
----
b | 3

-- query
SELECT count(*), max(id) FROM t WHERE p = 'b';
----
2 | 5

ALTER TABLE t ADD COLUMN late INT;

-- query
SELECT count(late), max(late), count(*) FROM t;
----
0 | NULL | 5

INSERT INTO t VALUES (6, 1, 1.0, 'a', 60);

ALTER TABLE t ALTER COLUMN k TYPE BIGINT;

INSERT INTO t VALUES (7, 5000000000, 1.0, 'c', 70);

-- query
SELECT count(late), min(late), max(late), max(k), min(k) FROM t;
----
2 | 60 | 70 | 5000000000 | -7

DELETE FROM t WHERE p = 'c';

-- query
SELECT count(*), max(late), max(k) FROM t;
----
6 | 60 | 12
