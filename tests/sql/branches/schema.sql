-- A branch is read with the current columns of the table; a tag or a snapshot is read with the columns that the table
-- had when the snapshot was written.

CREATE TABLE t (id INT, old STRING) USING iceberg;

INSERT INTO t VALUES (1, 'a');

ALTER TABLE t CREATE BRANCH work;

ALTER TABLE t CREATE TAG v1;

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

ALTER TABLE t RENAME COLUMN old TO new;

ALTER TABLE t ADD COLUMN more INT;

-- query
SELECT * FROM db.t.branch_work;
----
1 | a | NULL

-- query
SELECT id, new, more FROM t VERSION AS OF 'work';
----
1 | a | NULL

-- query
SELECT id, old FROM db.t.tag_v1;
----
1 | a

-- query
SELECT * FROM t VERSION AS OF 'v1';
----
1 | a

-- query
SELECT * FROM t VERSION AS OF ${first};
----
1 | a

INSERT INTO db.t.branch_work VALUES (2, 'b', 7);

-- query
SELECT * FROM db.t.branch_work ORDER BY id;
----
1 | a | NULL
2 | b | 7

DELETE FROM db.t.branch_work WHERE new = 'b';

-- query
SELECT id FROM db.t.branch_work;
----
1
