-- Metadata tables show files of several partition specs with the same values as in Apache Iceberg.

CREATE TABLE t (id INT, a STRING) USING iceberg;

INSERT INTO t VALUES (1, 'x');

ALTER TABLE t ADD PARTITION FIELD a;

INSERT INTO t VALUES (2, NULL);

-- query
SELECT partition.a, spec_id, record_count FROM ${catalog}.db.t.partitions ORDER BY spec_id;
----
NULL | 0 | 1
NULL | 1 | 1

-- query
SELECT DISTINCT sort_order_id FROM ${catalog}.db.t.files;
----
0
