-- One call combines small files, removes deleted rows and expires snapshots.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p)
TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read', 'history.expire.max-snapshot-age-ms' = '1');

-- query
SELECT action, is_due FROM ${catalog}.db.t.health WHERE is_due;
----

INSERT INTO t VALUES (1, 1);

INSERT INTO t VALUES (2, 1), (4, 1);

INSERT INTO t VALUES (3, 1);

DELETE FROM t WHERE id = 4;

-- query
SELECT action, is_due, files, files_after, measures['data_files'] FROM ${catalog}.db.t.health WHERE action = 'rewrite_data_files';
----
rewrite_data_files | true | 3 | 1 | 3

CALL ${catalog}.system.maintain(table => 'db.t', options => map('min-input-files', '2'), dry_run => true);

-- query
SELECT count(*) FROM ${catalog}.db.t.data_files;
----
3

CALL ${catalog}.system.maintain(table => 'db.t', options => map('min-input-files', '2', 'max-seconds', '600'));

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.data_files;
----
1 | 3

-- query
SELECT id, p FROM t ORDER BY id;
----
1 | 1
2 | 1
3 | 1

-- query
SELECT action FROM ${catalog}.db.t.health WHERE is_due AND action <> 'expire_snapshots';
----

-- error Did you mean max-bytes
CALL ${catalog}.system.maintain(table => 'db.t', options => map('max-byte', '1'));

-- A write compacts the partition that it has written to.

ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.auto-compact' = 'true', 'iceberg-lite.auto-compact.min-input-files' = '3');

INSERT INTO t VALUES (5, 1);

INSERT INTO t VALUES (6, 1);

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.data_files;
----
1 | 5

-- error iceberg-lite.auto-compact
ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.auto-compact' = 'perhaps');
