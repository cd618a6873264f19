-- Updated rows of a version 3 table keep their row ids, and get the sequence number of the update.

CREATE TABLE t (id BIGINT, n INT) USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO t SELECT id, 0 FROM range(0, 4, 1, 1);

UPDATE t SET n = 1 WHERE id = 2;

-- query
SELECT id, n, _row_id, _last_updated_sequence_number FROM t ORDER BY id;
----
0 | 0 | 0 | 1
1 | 0 | 1 | 1
2 | 1 | 2 | 2
3 | 0 | 3 | 1

ALTER TABLE t SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read');

UPDATE t SET n = 2 WHERE id = 0;

-- query
SELECT id, n, _row_id, _last_updated_sequence_number FROM t ORDER BY id;
----
0 | 2 | 0 | 3
1 | 0 | 1 | 1
2 | 1 | 2 | 2
3 | 0 | 3 | 1

MERGE INTO t USING (SELECT * FROM VALUES (1, 7), (8, 8) AS u (id, n)) u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET n = u.n
WHEN NOT MATCHED THEN INSERT *;

-- query
SELECT id, n, _row_id < 4, _last_updated_sequence_number FROM t ORDER BY id;
----
0 | 2 | true | 3
1 | 7 | true | 4
2 | 1 | true | 2
3 | 0 | true | 1
8 | 8 | false | 4

ALTER TABLE t SET TBLPROPERTIES ('write.merge.mode' = 'copy-on-write');

MERGE INTO t USING (SELECT 3 AS id, 9 AS n) u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET n = u.n
WHEN NOT MATCHED BY SOURCE AND t.id = 8 THEN DELETE
WHEN NOT MATCHED BY SOURCE AND t.id = 0 THEN UPDATE SET n = 5;

-- query
SELECT id, n, _row_id, _last_updated_sequence_number FROM t ORDER BY id;
----
0 | 5 | 0 | 5
1 | 7 | 1 | 4
2 | 1 | 2 | 2
3 | 9 | 3 | 5
