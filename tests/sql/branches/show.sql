-- SHOW BRANCHES and SHOW TAGS list the branches and tags of a table in the order of their names.

CREATE TABLE t (id INT) USING iceberg;

-- query
SHOW BRANCHES FROM t;
----

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let committed
SELECT committed_at FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE BRANCH work RETAIN 7 DAYS WITH SNAPSHOT RETENTION 5 SNAPSHOTS 2 DAYS;

ALTER TABLE t CREATE TAG v1 RETAIN 1 DAYS;

ALTER TABLE t CREATE TAG `a release`;

-- query
SHOW BRANCHES FROM t;
----
main | ${first} | ${committed} | NULL | NULL | NULL
work | ${first} | ${committed} | 604800000 | 5 | 172800000

-- query
SHOW BRANCHES IN ${catalog}.db.t LIKE 'w*';
----
work | ${first} | ${committed} | 604800000 | 5 | 172800000

-- query
SHOW TAGS t;
----
a release | ${first} | ${committed} | NULL
v1 | ${first} | ${committed} | 86400000

-- query
SHOW TAGS FROM db.t 'V?|v.';
----
v1 | ${first} | ${committed} | 86400000

-- query
SHOW TAGS FROM t LIKE 'nothing';
----

-- error expected the name of a table
SHOW BRANCHES;

-- error expected a pattern in quotes
SHOW BRANCHES FROM t LIKE work;

-- error near 'x': expected the end of the statement
SHOW TAGS FROM t x;

-- error did you mean `t`?
SHOW TAGS FROM tt;

-- error SHOW BRANCHES supports only tables of iceberg-lite catalogs
SHOW BRANCHES FROM spark_catalog.default.t;

-- error Remove the snapshot, branch or tag from the name of the table
SHOW BRANCHES FROM ${catalog}.db.t.branch_work;
