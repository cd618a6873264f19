-- With spark.sql.iceberg.merge-schema, INSERT adds and widens columns if the table has the property
-- write.spark.accept-any-schema.

CREATE TABLE t (id INT, s STRUCT<x: INT>) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true');

INSERT INTO t SELECT 1 AS id, named_struct('x', 1) AS s;

-- error the write option merge-schema adds new columns
INSERT INTO t SELECT 2 AS id, 'b' AS name;

SET `spark.sql.iceberg.merge-schema`=true;

INSERT INTO t SELECT 2 AS id, 'b' AS name;

INSERT INTO t SELECT named_struct('y', 3.5D, 'x', 3) AS s, 3000000000 AS id;

-- query
SELECT id, s.x, s.y, name FROM t ORDER BY id;
----
1 | 1 | NULL | NULL
2 | NULL | NULL | b
3000000000 | 3 | 3.5 | NULL

INSERT OVERWRITE t SELECT 4 AS id, DATE '2024-01-01' AS day;

-- query
SELECT * FROM t;
----
4 | NULL | NULL | 2024-01-01

-- query
SELECT count(DISTINCT latest_schema_id), count(*) FROM ${catalog}.db.t.metadata_log_entries WHERE latest_snapshot_id IS NOT NULL;
----
4 | 4

-- error Cannot change column
INSERT INTO t SELECT 'five' AS id;

-- query
SELECT * FROM t;
----
4 | NULL | NULL | 2024-01-01
