-- Options after the table name apply to a single statement; session settings apply to all statements.

CREATE TABLE t (id INT, n INT) USING iceberg;

INSERT INTO t WITH ('snapshot-property.step' = '1') VALUES (1, 10), (2, 20), (3, 30);

UPDATE t WITH ('snapshot-property.step' = '2', 'isolation-level' = 'snapshot', 'statement-retries' = 2) AS x
SET n = x.n + 1 WHERE x.id = 1;

DELETE FROM t WITH ('snapshot-property.step' = '3') WHERE id = 2;

ALTER TABLE t CREATE BRANCH b;

DELETE FROM t AS x WITH (branch = 'b') WHERE x.id = 3;

SET `spark.sql.iceberg-lite.statement-retries`=1;

SET `spark.sql.iceberg.snapshot-property.step`=4;

MERGE INTO t USING (SELECT 3 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 33;

-- query
SELECT * FROM t ORDER BY id;
----
1 | 11
3 | 33

-- query
SELECT * FROM db.t.branch_b;
----
1 | 11

-- query
SELECT summary['step'] FROM db.t.snapshots WHERE summary['step'] IS NOT NULL ORDER BY 1;
----
1
2
3
4

-- error Did you mean isolation-level?
DELETE FROM t WITH ('isolation-levl' = 'snapshot') WHERE id = 1;

-- error DELETE has no such option
DELETE FROM t WITH ('overwrite-mode' = 'dynamic') WHERE id = 1;

-- error Syntax error at or near
DELETE FROM t WITH ('branch' = ) WHERE id = 1;

SET `spark.sql.iceberg-lite.statement-retries`=often;

-- error configuration spark.sql.iceberg-lite.statement-retries
DELETE FROM t WHERE id = 1;
