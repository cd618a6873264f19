-- TRUNCATE empties a table and keeps its history; PURGE deletes its files.

CREATE TABLE t (id BIGINT) USING iceberg;

INSERT INTO t VALUES (1), (2);

-- let before
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

TRUNCATE TABLE t;

-- query
SELECT count(*) FROM t;
----
0

-- query
SELECT count(*) FROM t VERSION AS OF ${before};
----
2

ALTER TABLE t SET TBLPROPERTIES ('gc.enabled' = 'false');

-- error gc.enabled
DROP TABLE t PURGE;

ALTER TABLE t SET TBLPROPERTIES ('gc.enabled' = 'true');

DROP TABLE t PURGE;

-- query
SHOW TABLES;
----
