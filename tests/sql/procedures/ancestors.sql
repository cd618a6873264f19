-- ancestors_of returns a snapshot and its ancestors, newest first.

CREATE TABLE t (id INT) USING iceberg;

-- query
CALL ${catalog}.system.ancestors_of('db.t');
----

INSERT INTO t VALUES (1);

-- let first
SELECT concat(snapshot_id, ' | ', unix_millis(committed_at)) FROM ${catalog}.db.t.snapshots;

-- let id
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (2);

-- let second
SELECT concat(snapshot_id, ' | ', unix_millis(committed_at)) FROM ${catalog}.db.t.snapshots WHERE snapshot_id <> ${id};

-- query
CALL ${catalog}.system.ancestors_of('db.t');
----
${second}
${first}

-- query
CALL ${catalog}.system.ancestors_of(snapshot_id => ${id}, table => 'db.t');
----
${first}

-- error Snapshot not found: 7
CALL ${catalog}.system.ancestors_of('db.t', 7);
