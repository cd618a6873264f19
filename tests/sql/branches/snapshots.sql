-- Procedures that read one snapshot select it by a branch, and add_files adds files to a branch.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 1);

ALTER TABLE t CREATE BRANCH b;

INSERT INTO ${catalog}.db.t.branch_b VALUES (2, 1);

-- let head
SELECT concat_ws(' | ', snapshot_id, unix_millis(committed_at)) FROM ${catalog}.db.t.snapshots
WHERE parent_id IS NOT NULL;

-- let first
SELECT concat_ws(' | ', snapshot_id, unix_millis(committed_at)) FROM ${catalog}.db.t.snapshots
WHERE parent_id IS NULL;

-- query
CALL ${catalog}.system.ancestors_of(table => 'db.t', branch => 'b');
----
${head}
${first}

-- error Branch not found: none
CALL ${catalog}.system.ancestors_of(table => 'db.t', branch => 'none');

CALL ${catalog}.system.compute_table_stats(table => 'db.t', branch => 'b');

CALL ${catalog}.system.compute_partition_stats(table => 'db.t', branch => 'b');

-- error Set only one of the two arguments
CALL ${catalog}.system.compute_partition_stats(table => 'db.t', snapshot_id => 1, branch => 'b');

INSERT OVERWRITE DIRECTORY '${directory}/files/p=2' USING parquet SELECT 3 AS id;

CALL ${catalog}.system.add_files(table => 'db.t', source_table => 'parquet.`file:${directory}/files`', branch => 'b');

-- query
SELECT * FROM ${catalog}.db.t.branch_b ORDER BY id;
----
1 | 1
2 | 1
3 | 2

-- query
SELECT * FROM t;
----
1 | 1
