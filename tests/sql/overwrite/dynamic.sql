-- A dynamic overwrite replaces only the partitions that get new rows.

SET spark.sql.sources.partitionOverwriteMode = dynamic;

CREATE TABLE t (id BIGINT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts));

INSERT INTO t VALUES (1, TIMESTAMP '2024-01-01 10:00:00'), (2, TIMESTAMP '2024-01-02 10:00:00');

INSERT OVERWRITE t VALUES (20, TIMESTAMP '2024-01-02 01:00:00'), (30, TIMESTAMP '2024-01-03 01:00:00');

-- query
SELECT * FROM t ORDER BY id;
----
1 | 2024-01-01 10:00:00
20 | 2024-01-02 01:00:00
30 | 2024-01-03 01:00:00
