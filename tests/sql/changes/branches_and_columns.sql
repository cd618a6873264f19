-- Changes of a branch are read, and changes from before a schema change are read with the current columns.

CREATE TABLE t (id INT, v STRING) USING iceberg;

INSERT INTO t VALUES (1, 'one');

ALTER TABLE t CREATE BRANCH b;

ALTER TABLE t RENAME COLUMN v TO name;

ALTER TABLE t ADD COLUMN score DOUBLE;

INSERT INTO ${catalog}.db.t.branch_b VALUES (2, 'two', 0.5);

INSERT INTO t VALUES (3, 'three', 1.5);

-- query
SELECT id, name, score, _change_ordinal FROM ${catalog}.db.t.changes ORDER BY id;
----
1 | one | NULL | 0
3 | three | 1.5 | 1

-- query
SELECT id, name, score, _change_ordinal FROM ${catalog}.db.t.branch_b.changes ORDER BY id;
----
1 | one | NULL | 0
2 | two | 0.5 | 1

-- error _deleted
SELECT _deleted FROM ${catalog}.db.t.changes;
