-- MERGE adds columns of its source to the table, in both modes.

CREATE TABLE t (id INT, n INT, s STRUCT<a: INT>) USING iceberg;

INSERT INTO t VALUES (1, 10, named_struct('a', 1)), (2, 20, named_struct('a', 2));

CREATE TEMPORARY VIEW u AS
SELECT * FROM VALUES (2, 3000000000L, named_struct('b', 'x'), true), (3, 30L, NULL, NULL) AS (id, n, s, flag);

-- error flag
MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET flag = u.flag;

MERGE WITH SCHEMA EVOLUTION INTO t USING u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;

-- query
SELECT id, n, s.a, s.b, flag FROM t ORDER BY id;
----
1 | 10 | 1 | NULL | NULL
2 | 3000000000 | 2 | x | true
3 | 30 | NULL | NULL | NULL

ALTER TABLE t SET TBLPROPERTIES ('write.merge.mode' = 'merge-on-read');

MERGE INTO t WITH ('merge-schema' = true, 'snapshot-property.job' = 'second') AS t
USING (SELECT 1 AS id, 'new' AS note, 'left' AS out) AS u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET t.note = u.note;

-- query
SELECT id, n, s.a, note FROM t WHERE id = 1;
----
1 | 10 | 1 | new

-- query
SELECT summary['job'], summary['spark.merge-into.num-target-rows-updated'] FROM db.t.snapshots
ORDER BY committed_at DESC LIMIT 1;
----
second | 1

-- query
SELECT count(*) FROM db.t.snapshots;
----
3
