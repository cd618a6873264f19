-- Arguments of expire_snapshots set the number of snapshots to keep, and how files are deleted.

CREATE TABLE t (id INT) USING iceberg;

INSERT OVERWRITE t VALUES (1);

ALTER TABLE t ADD COLUMN name STRING;

INSERT OVERWRITE t VALUES (2, 'b');

INSERT OVERWRITE t VALUES (3, 'c');

INSERT OVERWRITE t VALUES (4, 'd');

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', older_than => current_timestamp(), retain_last => 4);
----
0 | 0 | 0 | 0 | 0 | 0 | [] | NULL

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', older_than => current_timestamp(), retain_last => 3, max_concurrent_deletes => 1, stream_results => true);
----
1 | 0 | 0 | 1 | 1 | 0 | [] | NULL

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', older_than => current_timestamp(), retain_last => 2, max_concurrent_deletes => 4, stream_results => false, clean_expired_metadata => true);
----
1 | 0 | 0 | 2 | 1 | 0 | [] | NULL

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
2

-- query
SELECT * FROM t;
----
4 | d

INSERT OVERWRITE t VALUES (5, 'e');

-- query
CALL ${catalog}.system.expire_snapshots(table => 'db.t', max_snapshots => 2);
----
1 | 0 | 0 | 2 | 1 | 0 | [] | NULL

ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.max-snapshots-to-keep' = '1');

-- query
CALL ${catalog}.system.expire_snapshots('db.t');
----
1 | 0 | 0 | 2 | 1 | 0 | [] | NULL

-- query
SELECT * FROM t;
----
5 | e

-- error It must be 3 or more
CALL ${catalog}.system.expire_snapshots(table => 'db.t', retain_last => 3, max_snapshots => 2);

-- error It must be an integer of 1 or more
ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.max-snapshots-to-keep' = '0');

-- error INVALID_PARAMETER_VALUE
CALL ${catalog}.system.expire_snapshots(table => 'db.t', max_concurrent_deletes => 0);

-- error It must be 1 or more
CALL ${catalog}.system.expire_snapshots(table => 'db.t', retain_last => 0);

-- error It must be INT, not STRING
CALL ${catalog}.system.expire_snapshots(table => 'db.t', retain_last => 'all');
