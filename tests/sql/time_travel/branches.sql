-- Branches are read and written by name, and tags are read by name; missing branches and tags are reported.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- error Branch not found: work
SELECT * FROM ${catalog}.db.t.branch_work;

-- error Snapshot, branch or tag not found: work
SELECT * FROM t VERSION AS OF 'work';

-- query
SELECT * FROM ${catalog}.db.t.branch_main;
----
1

INSERT INTO ${catalog}.db.t.branch_main VALUES (2);

-- query
SELECT * FROM t ORDER BY id;
----
1
2

-- error It is a branch. Use the read option branch
SELECT * FROM ${catalog}.db.t.tag_main;

-- query
SELECT record_count FROM ${catalog}.db.t.branch_main.files;
----
1
1

-- error This metadata table does not support time travel
SELECT name, type FROM ${catalog}.db.t.branch_main.refs;
