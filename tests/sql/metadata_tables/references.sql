-- Metadata tables show the files of a branch, a tag or a snapshot.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a');

ALTER TABLE t CREATE TAG v1;

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'v1';

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (2, 'b'), (3, 'c');

INSERT INTO t VALUES (4, 'a');

-- query
SELECT partition.p FROM ${catalog}.db.t.branch_work.files ORDER BY 1;
----
a
b
c

-- query
SELECT partition.p FROM ${catalog}.db.t.files ORDER BY 1;
----
a
a

-- query
SELECT partition.p, record_count FROM ${catalog}.db.t.branch_work.partitions ORDER BY 1;
----
a | 1
b | 1
c | 1

-- query
SELECT status, data_file.partition.p FROM ${catalog}.db.t.branch_work.entries WHERE snapshot_id <> ${first} ORDER BY 2;
----
1 | b
1 | c

-- query
SELECT partition.p FROM ${catalog}.db.t.files VERSION AS OF 'work' ORDER BY 1;
----
a
b
c

-- query
SELECT partition.p FROM ${catalog}.db.t.files VERSION AS OF 'v1';
----
a

-- query
SELECT partition.p FROM ${catalog}.db.t.tag_v1.files;
----
a

-- query
SELECT partition.p FROM ${catalog}.db.t.data_files VERSION AS OF ${first};
----
a

-- error does not support time travel
SELECT * FROM ${catalog}.db.t.branch_work.snapshots;

-- error nothing
SELECT * FROM ${catalog}.db.t.files VERSION AS OF 'nothing';
