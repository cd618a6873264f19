-- ADD, REPLACE and DROP PARTITION FIELD change the partition spec; files of every partition spec are read.

CREATE TABLE t (id BIGINT, data STRING, ts TIMESTAMP) USING iceberg;

INSERT INTO t VALUES (1, 'aa', TIMESTAMP '2024-01-01 00:00:00');

ALTER TABLE t ADD PARTITION FIELD months(ts);

INSERT INTO t VALUES (2, 'ab', TIMESTAMP '2024-02-02 00:00:00');

ALTER TABLE t ADD PARTITION FIELD bucket(8, id) AS shard;

INSERT INTO t VALUES (3, 'bb', TIMESTAMP '2024-03-03 00:00:00');

ALTER TABLE t REPLACE PARTITION FIELD ts_month WITH days(ts) AS day;

INSERT INTO t VALUES (4, 'bc', TIMESTAMP '2024-04-04 00:00:00');

ALTER TABLE t DROP PARTITION FIELD shard;

ALTER TABLE t DROP PARTITION FIELD days(ts);

ALTER TABLE t ADD PARTITION FIELD truncate(1, data);

INSERT INTO t VALUES (5, 'cc', TIMESTAMP '2024-05-05 00:00:00');

-- query
SELECT * FROM t ORDER BY id;
----
1 | aa | 2024-01-01 00:00:00
2 | ab | 2024-02-02 00:00:00
3 | bb | 2024-03-03 00:00:00
4 | bc | 2024-04-04 00:00:00
5 | cc | 2024-05-05 00:00:00

-- query
SELECT id FROM t WHERE ts >= TIMESTAMP '2024-03-01 00:00:00' AND data LIKE 'b%' ORDER BY id;
----
3
4

-- query
SELECT spec_id, count(*) FROM ${catalog}.db.t.files GROUP BY spec_id ORDER BY spec_id;
----
0 | 1
1 | 1
2 | 1
3 | 1
5 | 1

-- error already contains this field
ALTER TABLE t ADD PARTITION FIELD truncate(1, data);

-- error Partition field not found
ALTER TABLE t DROP PARTITION FIELD shard;

-- error Column not found
ALTER TABLE t ADD PARTITION FIELD days(nothing);

-- error do not support this transform
ALTER TABLE t ADD PARTITION FIELD days(data);
