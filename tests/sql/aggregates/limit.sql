-- LIMIT and OFFSET select the right rows, with and without ORDER BY.

CREATE TABLE t (id BIGINT, k INT, name STRING) USING iceberg;

INSERT INTO t VALUES (1, 10, 'one'), (2, NULL, 'two');

INSERT INTO t VALUES (3, 10, 'three'), (4, -1, NULL);

INSERT INTO t VALUES (5, 99, 'five'), (6, NULL, 'six'), (7, 98, 'seven');

-- query
SELECT count(*) FROM (SELECT id FROM t LIMIT 4);
----
4

-- query
SELECT count(*) FROM (SELECT id FROM t LIMIT 4 OFFSET 5);
----
2

-- query
SELECT id FROM t ORDER BY id LIMIT 3 OFFSET 2;
----
3
4
5

-- query
SELECT id, k FROM t ORDER BY k DESC, id LIMIT 4;
----
5 | 99
7 | 98
1 | 10
3 | 10

-- query
SELECT id, k FROM t ORDER BY k, id LIMIT 3;
----
2 | NULL
6 | NULL
4 | -1

-- query
SELECT id, k FROM t ORDER BY k NULLS LAST, id DESC LIMIT 3;
----
4 | -1
3 | 10
1 | 10

-- query
SELECT name FROM t WHERE k > 5 ORDER BY name LIMIT 2;
----
five
one

-- query
SELECT id FROM t LIMIT 0;
----

-- query
SELECT count(*) FROM t TABLESAMPLE (100 PERCENT);
----
7
