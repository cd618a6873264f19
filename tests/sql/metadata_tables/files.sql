-- The metadata tables files and partitions show the current snapshot; files supports time travel.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a'), (2, 'a'), (NULL, 'b');

-- query
SELECT partition.p, record_count, readable_metrics.id.null_value_count, readable_metrics.id.upper_bound
FROM ${catalog}.db.t.files ORDER BY partition.p;
----
a | 2 | 0 | 2
b | 1 | 1 | NULL

-- query
SELECT file_format, content, file_path LIKE '%/data/p=%.parquet', file_size_in_bytes > 0 FROM ${catalog}.db.t.files
WHERE record_count = 2;
----
PARQUET | 0 | true | true

-- query
SELECT partition.p, record_count, file_count FROM ${catalog}.db.t.partitions ORDER BY partition.p;
----
a | 2 | 1
b | 1 | 1

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

DELETE FROM t WHERE p = 'a';

-- query
SELECT partition.p FROM ${catalog}.db.t.files;
----
b

-- query rowsort
SELECT partition.p FROM ${catalog}.db.t.files VERSION AS OF ${first};
----
a
b

-- error This metadata table does not support time travel
SELECT * FROM ${catalog}.db.t.snapshots VERSION AS OF ${first};
