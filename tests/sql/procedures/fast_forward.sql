-- A branch is fast-forwarded to another one if it has no commits of its own.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (2);

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'work';

-- query
CALL ${catalog}.system.fast_forward('db.t', 'main', 'work');
----
main | ${first} | ${second}

-- query
SELECT * FROM t ORDER BY id;
----
1
2

-- query
CALL ${catalog}.system.fast_forward(table => 'db.t', branch => 'main', to => 'work');
----
main | ${second} | ${second}

-- A missing branch is created.
-- query
CALL ${catalog}.system.fast_forward('db.t', 'new', 'work');
----
new | NULL | ${second}

INSERT INTO t VALUES (3);

-- error its head is not an ancestor of work
CALL ${catalog}.system.fast_forward('db.t', 'main', 'work');

-- error Branch or tag not found: nothing
CALL ${catalog}.system.fast_forward('db.t', 'main', 'nothing');

ALTER TABLE t CREATE TAG v;

-- error It is a tag
CALL ${catalog}.system.fast_forward('db.t', 'v', 'main');

CALL ${catalog}.system.fast_forward('db.t', 'work', 'v');

-- query
SELECT count(*) FROM ${catalog}.db.t.branch_work;
----
3
