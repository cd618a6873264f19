-- Streaming queries that have written to a table are listed from its properties, and their records are removed.

CREATE TABLE t (id INT) USING iceberg;

-- CREATE TABLE does not store such records, so that a copy of a definition does not contain them.
ALTER TABLE t SET TBLPROPERTIES (
  'application-version.6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e' = '41',
  'application-version.0f7c2a44-9a0b-4b58-8f0e-5d7c8b9a0e1f' = 'unknown',
  'application-version.nightly' = '20260131'
);

INSERT INTO t WITH ('snapshot-property.spark.sql.streaming.queryId' = '6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e')
VALUES (1);

-- let snapshot
SELECT snapshot_id FROM db.t.snapshots;

-- let time
SELECT unix_millis(committed_at) FROM db.t.snapshots;

INSERT INTO t VALUES (2);

-- query
CALL ${catalog}.system.stream_writers(table => 'db.t');
----
0f7c2a44-9a0b-4b58-8f0e-5d7c8b9a0e1f | NULL | NULL | NULL
6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e | 41 | ${snapshot} | ${time}

-- error query_id
CALL ${catalog}.system.drop_stream_writer(table => 'db.t', query_id => 'nightly');

-- query
CALL ${catalog}.system.drop_stream_writer('db.t', '0f7c2a44-9a0b-4b58-8f0e-5d7c8b9a0e1f');
----
NULL

-- query
CALL ${catalog}.system.drop_stream_writer('db.t', '6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e');
----
41

-- query
CALL ${catalog}.system.stream_writers('db.t');
----

-- query
SHOW TBLPROPERTIES t ('application-version.nightly');
----
application-version.nightly | 20260131
