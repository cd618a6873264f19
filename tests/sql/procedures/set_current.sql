-- Any snapshot can become the current one, by its id or by a branch or tag.

CREATE TABLE t (id INT) USING iceberg;

-- error the argument table of set_current_snapshot is missing
CALL ${catalog}.system.set_current_snapshot();

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE TAG v1;

INSERT OVERWRITE t VALUES (2);

ALTER TABLE t CREATE BRANCH work;

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.refs WHERE name = 'work';

-- query
CALL ${catalog}.system.set_current_snapshot('db.t', ${first});
----
${second} | ${first}

-- query
CALL ${catalog}.system.set_current_snapshot(ref => 'work', table => 'db.t');
----
${first} | ${second}

-- query
CALL ${catalog}.system.set_current_snapshot(table => 'db.t', ref => 'v1');
----
${second} | ${first}

-- query
SELECT * FROM t;
----
1

-- The id may be given as text, and the snapshot may already be the current one.
-- query
CALL ${catalog}.system.set_current_snapshot('db.t', '${first}');
----
${first} | ${first}

-- error Set either snapshot_id or ref
CALL ${catalog}.system.set_current_snapshot('db.t');

-- error Set either snapshot_id or ref
CALL ${catalog}.system.set_current_snapshot('db.t', ${first}, 'v1');

-- error Branch or tag not found: nothing. The table has branch main, tag v1, branch work
CALL ${catalog}.system.set_current_snapshot(table => 'db.t', ref => 'nothing');

-- error Snapshot not found: 7
CALL ${catalog}.system.set_current_snapshot('db.t', 7);

CREATE TABLE other (id INT) USING iceberg;

ALTER TABLE other CREATE BRANCH b;

-- let began
SELECT snapshot_id FROM ${catalog}.db.other.refs;

-- query
CALL ${catalog}.system.set_current_snapshot(table => 'other', ref => 'b');
----
NULL | ${began}
