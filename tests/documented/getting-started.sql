-- Apache Iceberg's documentation, page spark-getting-started.

CREATE TABLE ${catalog}.db.table (id bigint, data string) USING iceberg;

USE spark_catalog;

CREATE TABLE source (id bigint, data string) USING parquet;

CREATE TABLE updates (id bigint, data string) USING parquet;

INSERT INTO ${catalog}.db.table VALUES (1, 'a'), (2, 'b'), (3, 'c');

INSERT INTO source VALUES (10, 'd'), (11, 'ee');

INSERT INTO updates VALUES (1, 'x'), (2, 'x'), (4, 'z');

INSERT INTO ${catalog}.db.table SELECT id, data FROM source WHERE length(data) = 1;

-- query rowsort
SELECT * FROM ${catalog}.db.table;
----
1 | a
10 | d
2 | b
3 | c

MERGE INTO ${catalog}.db.table t USING (SELECT * FROM updates) u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET t.data = u.data
WHEN NOT MATCHED THEN INSERT *;

-- query rowsort
SELECT count(1) as count, data
FROM ${catalog}.db.table
GROUP BY data;
----
1 | c
1 | d
1 | z
2 | x

SELECT * FROM ${catalog}.db.table.snapshots;

-- query
SELECT count(*) FROM ${catalog}.db.table.snapshots;
----
3

DROP TABLE source;

DROP TABLE updates;
