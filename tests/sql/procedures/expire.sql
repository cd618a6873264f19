-- Expired snapshots are removed, with the files that only they refer to.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT OVERWRITE t VALUES (2);

ALTER TABLE t CREATE TAG second;

INSERT OVERWRITE t VALUES (3);

-- query
CALL ${catalog}.system.expire_snapshots('db.t', TIMESTAMP '2000-01-01 00:00:00');
----
0 | 0 | 0 | 0 | 0 | 0 | [] | NULL

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', older_than => current_timestamp(), dry_run => true);
----
1 | 0 | 0 | 1 | 1 | 0 | [] | NULL

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
3

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', snapshot_ids => array(${first}));
----
1 | 0 | 0 | 1 | 1 | 0 | [] | NULL

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
2

-- query
SELECT * FROM ${catalog}.db.t VERSION AS OF 'second';
----
2

-- error Snapshot not found: ${first}
SELECT * FROM ${catalog}.db.t VERSION AS OF ${first};

-- query
SELECT * FROM t;
----
3
