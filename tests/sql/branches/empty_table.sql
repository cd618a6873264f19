-- A branch of a table without a snapshot starts with an empty snapshot; the main branch still has no snapshot.

CREATE TABLE t (id INT) USING iceberg;

ALTER TABLE t CREATE BRANCH work RETAIN 2 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS;

-- query
SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep FROM ${catalog}.db.t.refs;
----
work | BRANCH | 172800000 | 3

-- query
SELECT operation, parent_id, summary['total-records'] FROM ${catalog}.db.t.snapshots;
----
append | NULL | 0

-- query
SELECT * FROM ${catalog}.db.t.branch_work;
----

INSERT INTO ${catalog}.db.t.branch_work VALUES (1);

-- query
SELECT * FROM t;
----

-- query
SELECT * FROM t VERSION AS OF 'work';
----
1

-- error the table has no snapshot yet
ALTER TABLE t CREATE TAG v1;

-- error the table has no snapshot yet
ALTER TABLE t REPLACE BRANCH work;

-- error Branch not found: other
ALTER TABLE t REPLACE BRANCH other;

CALL ${catalog}.system.fast_forward('db.t', 'main', 'work');

-- query
SELECT * FROM t;
----
1
