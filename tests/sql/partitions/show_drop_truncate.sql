-- SHOW PARTITIONS, DROP PARTITION and TRUNCATE PARTITION work on whole partitions, without reading rows.

CREATE TABLE t (id INT, p STRING, ts TIMESTAMP_NTZ) USING iceberg PARTITIONED BY (p, days(ts));

-- query
SHOW PARTITIONS t;
----

INSERT INTO t VALUES
  (1, 'a', TIMESTAMP_NTZ '2024-01-01 01:00:00'), (2, 'a', TIMESTAMP_NTZ '2024-01-01 02:00:00'),
  (3, 'a', TIMESTAMP_NTZ '2024-01-02 00:00:00'), (4, 'b', TIMESTAMP_NTZ '2024-01-01 00:00:00'), (5, NULL, NULL);

-- query rowsort
SHOW PARTITIONS t;
----
p=a/ts_day=2024-01-01
p=a/ts_day=2024-01-02
p=b/ts_day=2024-01-01
p=null/ts_day=null

-- query rowsort
SHOW PARTITIONS t PARTITION (p = 'a');
----
p=a/ts_day=2024-01-01
p=a/ts_day=2024-01-02

-- query
SHOW PARTITIONS t PARTITION (ts_day = DATE '2024-01-02');
----
p=a/ts_day=2024-01-02

-- query
SHOW PARTITIONS ${catalog}.db.t PARTITION (p = 'z');
----

ALTER TABLE t CREATE BRANCH old;

ALTER TABLE t DROP PARTITION (p = 'a', ts_day = DATE '2024-01-01');

-- query
SELECT id FROM t ORDER BY id;
----
3
4
5

-- query
SELECT operation, summary['deleted-records'], summary['added-data-files'] FROM ${catalog}.db.t.snapshots
ORDER BY committed_at DESC LIMIT 1;
----
delete | 2 | NULL

-- query rowsort
SHOW PARTITIONS ${catalog}.db.t.branch_old PARTITION (p = 'a');
----
p=a/ts_day=2024-01-01
p=a/ts_day=2024-01-02

-- error PARTITIONS_NOT_FOUND
ALTER TABLE t DROP PARTITION (p = 'a', ts_day = DATE '2024-01-01');

ALTER TABLE t DROP IF EXISTS PARTITION (p = 'a', ts_day = DATE '2024-01-01');

-- Several partitions are dropped in one commit.
ALTER TABLE t DROP PARTITION (p = 'a', ts_day = '2024-01-02'), PARTITION (p = NULL, ts_day = NULL);

-- query
SELECT id FROM t;
----
4

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
3

-- error The spec (p) must match the partition spec (p, ts_day)
ALTER TABLE t DROP PARTITION (p = 'b');

-- error Partition field not found: id. The partition fields of ${catalog}.db.t are p, ts_day.
ALTER TABLE t DROP PARTITION (id = 4);

-- error Did you mean ts_day?
TRUNCATE TABLE t PARTITION (ts = '2024-01-01');

-- error Did you mean ts_day?
SHOW PARTITIONS ${catalog}.db.t.branch_old PARTITION (ts_dy = '2024-01-01');

-- error did you mean `t`?
SHOW PARTITIONS tt PARTITION (p = 'a');

-- error Drop the partition without PURGE
ALTER TABLE t DROP PARTITION (p = 'b', ts_day = DATE '2024-01-01') PURGE;

-- error use CALL system.add_files
ALTER TABLE t ADD PARTITION (p = 'c', ts_day = DATE '2024-01-01');

-- error UPDATE the rows of the partition instead
ALTER TABLE t PARTITION (p = 'b', ts_day = DATE '2024-01-01') RENAME TO PARTITION (p = 'c', ts_day = DATE '2024-01-01');

-- TRUNCATE also accepts the values of only some of the partition fields.
TRUNCATE TABLE ${catalog}.db.t.branch_old PARTITION (p = 'a');

-- query
SELECT id FROM ${catalog}.db.t.branch_old ORDER BY id;
----
4
5

TRUNCATE TABLE t PARTITION (p = 'z');

TRUNCATE TABLE t PARTITION (p = 'b', ts_day = DATE '2024-01-01');

-- query
SELECT id FROM t;
----

-- error PARTITIONS_NOT_FOUND
TRUNCATE TABLE t PARTITION (p = 'b', ts_day = DATE '2024-01-01');

CREATE TABLE unpartitioned (id INT) USING iceberg;

-- error PARTITION_SCHEMA_IS_EMPTY
SHOW PARTITIONS unpartitioned;
