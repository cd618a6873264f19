-- Partition statistics of a snapshot are computed and registered.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p);

-- query
CALL ${catalog}.system.compute_partition_stats('db.t');
----

INSERT INTO t VALUES (1, 1), (2, 2), (3, 2);

CALL ${catalog}.system.compute_partition_stats('db.t');

-- query
SELECT partition.p, record_count FROM ${catalog}.db.t.partitions ORDER BY 1;
----
1 | 1
2 | 2

-- let snapshot
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (4, 1);

CALL ${catalog}.system.compute_partition_stats(table => 'db.t', snapshot_id => ${snapshot});

-- error Snapshot not found: 42
CALL ${catalog}.system.compute_partition_stats('db.t', 42);

CREATE TABLE u (id INT) USING iceberg;

INSERT INTO u VALUES (1);

-- error An unpartitioned table has no partition statistics
CALL ${catalog}.system.compute_partition_stats('db.u');
