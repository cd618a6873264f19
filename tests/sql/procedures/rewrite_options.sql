-- Options choose the files to rewrite, and determine the new files.

CREATE TABLE t (id INT, p INT) USING iceberg
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'file');

INSERT INTO t SELECT id, id % 2 FROM range(0, 10, 1, 1);

INSERT INTO t SELECT id, id % 2 FROM range(10, 20, 1, 1);

INSERT INTO t SELECT id, id % 2 FROM range(20, 30, 1, 1);

DELETE FROM t WHERE id = 4;

-- The default of min-input-files is 5.
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('target-file-size-bytes', '1000000'));

-- query
SELECT count(*) FROM ${catalog}.db.t.data_files;
----
3

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-file-size-bytes', '1', 'max-file-size-bytes', '2000000', 'target-file-size-bytes', '1000000', 'delete-file-threshold', '1', 'remove-dangling-deletes', 'true'));

-- query
SELECT content, record_count FROM ${catalog}.db.t.files ORDER BY file_path IS NULL, content, record_count;
----
0 | 9
0 | 10
0 | 10

-- One group for each file, and one commit for each group.
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'max-file-group-size-bytes', '1', 'partial-progress.enabled', 'true', 'partial-progress.max-commits', '3', 'partial-progress.max-failed-commits', '0', 'max-concurrent-file-group-rewrites', '2', 'rewrite-job-order', 'files-desc'));

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots WHERE operation = 'replace';
----
4

ALTER TABLE t ADD PARTITION FIELD p;

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'output-spec-id', '0'));

-- query
SELECT spec_id, record_count FROM ${catalog}.db.t.files;
----
0 | 29

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'use-starting-sequence-number', 'false'));

-- query
SELECT spec_id, partition.p, record_count FROM ${catalog}.db.t.files ORDER BY 2;
----
1 | 0 | 14
1 | 1 | 15

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (30, 0);

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', branch => 'work', options => map('min-input-files', '2'));

-- query
SELECT record_count FROM ${catalog}.db.t.data_files ORDER BY 1;
----
14
15

-- query
SELECT count(*), max(id) FROM ${catalog}.db.t VERSION AS OF 'work';
----
30 | 30

-- query
SELECT count(*), max(id) FROM t;
----
29 | 29

-- error Did you mean bytes-asc?
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-job-order', 'byte-asc'));

-- error It must be less than the target size
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('target-file-size-bytes', '10', 'min-file-size-bytes', '20'));
