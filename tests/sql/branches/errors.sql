-- Invalid statements on branches and tags fail with the reason.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

ALTER TABLE t CREATE BRANCH b;

ALTER TABLE t CREATE TAG v;

-- let s
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- error Branch already exists: b
ALTER TABLE t CREATE BRANCH b;

-- error Tag already exists: v
ALTER TABLE t CREATE BRANCH v;

-- error Branch not found: nothing. Use CREATE OR REPLACE to create it. The table has branch b, branch main, tag v
ALTER TABLE t REPLACE BRANCH nothing;

-- error It is a tag
ALTER TABLE t REPLACE BRANCH v;

-- error It is a branch
ALTER TABLE t CREATE OR REPLACE TAG b;

-- error It is a branch
ALTER TABLE t DROP TAG b;

-- error It is a tag
ALTER TABLE t DROP BRANCH IF EXISTS v;

-- error Branch not found: nothing
ALTER TABLE t DROP BRANCH nothing;

-- error Tag not found: nothing
ALTER TABLE t DROP TAG nothing;

-- error The main branch cannot be removed
ALTER TABLE t DROP BRANCH main;

-- error Snapshot not found: 7
ALTER TABLE t CREATE BRANCH c AS OF VERSION 7;

-- error It must be positive
ALTER TABLE t CREATE BRANCH c RETAIN 0 DAYS;

-- error It must be positive
ALTER TABLE t CREATE BRANCH c WITH SNAPSHOT RETENTION 0 SNAPSHOTS;

-- error Branch not found: nothing
INSERT INTO db.t.branch_nothing VALUES (1);

-- error Branch not found: nothing
DELETE FROM db.t.branch_nothing;

-- error Only the table itself and its branches can be changed
INSERT INTO db.t.tag_v VALUES (1);

-- error Only the table itself and its branches can be changed
DELETE FROM db.t.tag_v;

-- error Only the table itself and its branches can be changed
TRUNCATE TABLE db.t.snapshot_id_${s};

-- error It is a tag
INSERT INTO db.t.branch_v VALUES (1);

-- error The name already selects a state of the table
SELECT * FROM db.t.branch_b VERSION AS OF 'main';

-- error The name already selects a state of the table
SELECT * FROM db.t.branch_b TIMESTAMP AS OF '2024-01-01';

-- error Only a table itself can be changed
ALTER TABLE db.t.branch_b CREATE TAG w;

-- error nothing
ALTER TABLE nothing CREATE BRANCH b;

-- query
SELECT name, type FROM db.t.refs ORDER BY name;
----
b | BRANCH
main | BRANCH
v | TAG
