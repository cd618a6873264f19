-- Snapshots are read by id, by timestamp, and by names with snapshot_id_ and at_timestamp_, with the schema with which
-- they were written.

CREATE TABLE t (id INT, old STRING) USING iceberg;

INSERT INTO t VALUES (1, 'a');

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let at
SELECT committed_at FROM ${catalog}.db.t.snapshots;

-- let ms
SELECT unix_millis(committed_at) FROM ${catalog}.db.t.snapshots;

ALTER TABLE t RENAME COLUMN old TO new;

INSERT INTO t VALUES (2, 'b');

-- query
SELECT id, old FROM t VERSION AS OF ${first};
----
1 | a

-- query
SELECT id, old FROM t FOR SYSTEM_VERSION AS OF '${first}';
----
1 | a

-- query
SELECT * FROM t TIMESTAMP AS OF '${at}';
----
1 | a

-- query
SELECT * FROM ${catalog}.db.t.snapshot_id_${first};
----
1 | a

-- query
SELECT * FROM ${catalog}.db.t.at_timestamp_${ms};
----
1 | a

-- query
SELECT id, new FROM t VERSION AS OF 'main' ORDER BY id;
----
1 | a
2 | b

-- query
SELECT count(*) FROM t AS now JOIN t VERSION AS OF ${first} AS past ON now.id = past.id;
----
1

-- error Snapshot not found: 42
SELECT * FROM t VERSION AS OF 42;

-- error Snapshot, branch or tag not found: nothing
SELECT * FROM t VERSION AS OF 'nothing';

-- error history starts at
SELECT * FROM t TIMESTAMP AS OF '2001-01-01 00:00:00';

-- error Only the table itself and its branches can be changed
INSERT INTO ${catalog}.db.t.snapshot_id_${first} VALUES (3, 'c');
