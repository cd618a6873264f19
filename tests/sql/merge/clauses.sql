-- All clauses of MERGE work in both modes.

CREATE TABLE t (id BIGINT, n INT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'a'), (3, 30, 'b'), (4, 40, 'c');

CREATE TEMPORARY VIEW u AS SELECT * FROM VALUES (1, 11, 'a'), (3, -1, 'b'), (5, 50, 'd') AS (id, n, p);

MERGE INTO t USING u ON t.id = u.id
WHEN MATCHED AND u.n < 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.p = 'c' THEN UPDATE SET n = 0, p = 'e';

-- query
SELECT * FROM t ORDER BY id;
----
1 | 11 | a
2 | 20 | a
4 | 0 | e
5 | 50 | d

ALTER TABLE t SET TBLPROPERTIES ('write.merge.mode' = 'merge-on-read');

MERGE INTO t USING u ON t.id = u.id AND t.p = 'd'
WHEN MATCHED THEN UPDATE SET n = t.n + 1
WHEN NOT MATCHED AND u.id > 100 THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN DELETE;

-- query
SELECT * FROM t ORDER BY id;
----
1 | 11 | a
4 | 0 | e
5 | 51 | d

-- error MERGE_CARDINALITY_VIOLATION
MERGE INTO t USING (SELECT * FROM u UNION ALL SELECT * FROM u) v ON t.id = v.id
WHEN MATCHED THEN UPDATE SET n = v.n;

MERGE INTO t USING (SELECT 9 AS id, 9 AS n, 'z' AS p) v ON t.id = v.id
WHEN NOT MATCHED THEN INSERT (id, p) VALUES (v.id, v.p);

-- query
SELECT operation, id, n, p FROM t CROSS JOIN (SELECT operation FROM db.t.snapshots ORDER BY committed_at DESC LIMIT 1)
WHERE id = 9;
----
append | 9 | NULL | z
