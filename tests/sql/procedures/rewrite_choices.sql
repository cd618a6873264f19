-- Options limit the files that a rewrite chooses, and determine how it sorts the rows.

CREATE TABLE t (id INT, s STRING) USING iceberg
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'file');

INSERT INTO t SELECT id, concat('k', id % 3) FROM range(0, 10, 1, 1);

INSERT INTO t SELECT id, concat('k', id % 3) FROM range(10, 20, 1, 1);

INSERT INTO t SELECT id, concat('k', id % 3) FROM range(20, 30, 1, 1);

INSERT INTO t SELECT id, concat('k', id % 3) FROM range(30, 40, 1, 1);

DELETE FROM t WHERE id IN (1, 2, 3);

-- A dry run changes nothing.
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'), dry_run => true);

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
5

-- Only a file with at least this ratio of deleted rows is rewritten.
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-file-size-bytes', '1', 'max-file-size-bytes', '2000000', 'target-file-size-bytes', '1000000', 'delete-ratio-threshold', '0.2'));

-- query
SELECT record_count FROM ${catalog}.db.t.data_files ORDER BY 1;
----
7
10
10
10

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'max-files-to-rewrite', '2'));

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.data_files;
----
3 | 37

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'max-file-group-input-files', '2'));

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.data_files;
----
2 | 37

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', sort_order => 'id DESC', options => map('rewrite-all', 'true', 'compression-factor', '0.5', 'shuffle-partitions-per-file', '2'));

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.data_files;
----
1 | 37

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', sort_order => 'zorder(s, id)', options => map('rewrite-all', 'true', 'var-length-contribution', '4', 'max-output-size', '8'));

-- query
SELECT count(*), sum(id), count(DISTINCT s) FROM t;
----
37 | 774 | 3

-- error It must be
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('delete-ratio-threshold', '2'));

-- error It has an effect only with the strategy sort
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('compression-factor', '2'));
