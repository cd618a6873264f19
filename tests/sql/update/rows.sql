-- UPDATE sets expressions, subqueries, nested fields and nulls, in both modes.

CREATE TABLE t (id BIGINT NOT NULL, n INT, s STRUCT<a: INT, b: STRING>) USING iceberg;

INSERT INTO t SELECT id, CAST(id AS INT), named_struct('a', CAST(id AS INT), 'b', 'old') FROM range(6);

UPDATE t SET n = n * 10, s.b = 'new' WHERE id >= 4;

UPDATE t SET n = (SELECT max(id) FROM t) WHERE id = 0;

-- query
SELECT id, n, s.a, s.b FROM t ORDER BY id;
----
0 | 5 | 0 | old
1 | 1 | 1 | old
2 | 2 | 2 | old
3 | 3 | 3 | old
4 | 40 | 4 | new
5 | 50 | 5 | new

ALTER TABLE t SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read');

UPDATE t SET n = NULL WHERE id % 2 = 1;

UPDATE t SET n = -1 WHERE id IN (SELECT id FROM t WHERE n = 40);

-- query
SELECT id, n FROM t ORDER BY id;
----
0 | 5
1 | NULL
2 | 2
3 | NULL
4 | -1
5 | NULL

-- error is NOT NULL in the table
UPDATE t SET id = NULL WHERE id = 1;

-- error Cannot safely cast
UPDATE t SET n = 'many' WHERE id = 1;
