-- Overwrites, deletes, updates and merges are staged like appends.
-- Without write.wap.enabled, spark.wap.id has no effect on a table.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.wap.enabled' = 'true');

CREATE TABLE plain (id INT) USING iceberg;

INSERT INTO t VALUES (1, 'a'), (2, 'b');

SET spark.wap.id = drop-a;

DELETE FROM t WHERE p = 'a';

SET spark.wap.id = new-b;

INSERT OVERWRITE t PARTITION (p = 'b') SELECT 20;

SET spark.wap.id = update-b;

UPDATE t SET id = 21 WHERE p = 'b';

SET spark.wap.id = merge;

MERGE INTO t USING (SELECT 1 AS id UNION ALL SELECT 3) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET p = 'merged' WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'c');

SET spark.wap.id = empty;

TRUNCATE TABLE t;

INSERT INTO plain VALUES (1);

CREATE TABLE made USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true') AS SELECT 1 AS id;

RESET spark.wap.id;

-- query
SELECT * FROM t ORDER BY id;
----
1 | a
2 | b

-- query
SELECT * FROM plain;
----
1

-- query
SELECT count(*) FROM made;
----
0

-- query
SELECT summary['wap.id'], operation, summary['total-records'] FROM ${catalog}.db.t.snapshots
WHERE summary['wap.id'] IS NOT NULL ORDER BY 1;
----
drop-a | delete | 1
empty | delete | 0
merge | overwrite | 3
new-b | overwrite | 2
update-b | overwrite | 2

CALL ${catalog}.system.publish_changes('db.t', 'drop-a');

-- query
SELECT * FROM t;
----
2 | b
