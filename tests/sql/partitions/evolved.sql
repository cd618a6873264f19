-- After a change of the partition spec, partitions are identified by the current fields.

CREATE TABLE t (id INT, p STRING, d DATE) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a', DATE '2024-01-01'), (2, 'b', DATE '2024-01-01'), (3, 'b', DATE '2024-02-01');

ALTER TABLE t ADD PARTITION FIELD months(d);

INSERT INTO t VALUES (4, 'a', DATE '2024-01-02'), (5, 'b', DATE '2024-02-02'), (6, 'b', DATE '2024-01-02');

-- A file of the first partition spec may have rows of several partitions. Such files are not listed.
-- query rowsort
SHOW PARTITIONS t;
----
p=a/d_month=648
p=b/d_month=648
p=b/d_month=649

-- The bounds of the file of the first partition spec show that all of its rows are in the partition.
ALTER TABLE t DROP PARTITION (p = 'a', d_month = 648);

-- query
SELECT id FROM t ORDER BY id;
----
2
3
5
6

-- error may also have other rows
ALTER TABLE t DROP PARTITION (p = 'b', d_month = 648);

-- query
SELECT count(*) FROM t;
----
4

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'));

ALTER TABLE t DROP PARTITION (p = 'b', d_month = 648);

-- query
SELECT id FROM t ORDER BY id;
----
3
5

-- A field that was dropped is no longer part of the partitions.
ALTER TABLE t DROP PARTITION FIELD p;

INSERT INTO t VALUES (7, 'c', DATE '2024-02-03');

-- query
SHOW PARTITIONS t;
----
d_month=649

ALTER TABLE t REPLACE PARTITION FIELD months(d) WITH bucket(4, id) AS shard;

INSERT INTO t SELECT id, p, d FROM VALUES (8, 'x', DATE '2024-03-01') AS v(id, p, d);

-- let shard
SHOW PARTITIONS t;

-- query
SELECT '${shard}' = concat('shard=', ${catalog}.system.bucket(4, 8));
----
true
