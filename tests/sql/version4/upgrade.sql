-- Tables of versions 1, 2 and 3 are upgraded to version 4, and keep their rows and their history.

CREATE TABLE t1 (id BIGINT, day DATE) USING iceberg PARTITIONED BY (months(day)) TBLPROPERTIES ('format-version' = '1');

CREATE TABLE t2 (id BIGINT, day DATE) USING iceberg PARTITIONED BY (months(day))
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read');

INSERT INTO t1 SELECT id, date_add(DATE'2020-01-01', CAST(id AS INT) * 10) FROM range(20);

INSERT INTO t2 SELECT * FROM t1;

DELETE FROM t2 WHERE id IN (3, 4, 11);

-- let before1
SELECT snapshot_id FROM db.t1.snapshots;

-- let before2
SELECT max_by(snapshot_id, committed_at) FROM db.t2.snapshots;

ALTER TABLE t1 SET TBLPROPERTIES ('format-version' = '4');

ALTER TABLE t2 SET TBLPROPERTIES ('format-version' = '4');

-- query
SELECT count(*), sum(id) FROM t1;
----
20 | 190

-- query
SELECT count(*), sum(id) FROM t2;
----
17 | 172

INSERT INTO t1 VALUES (100, DATE'2020-01-05');

DELETE FROM t1 WHERE day >= DATE'2020-06-01';

DELETE FROM t2 WHERE id IN (5, 12);

UPDATE t2 SET id = id + 1000 WHERE id = 0;

-- query
SELECT count(*), sum(id) FROM t1;
----
17 | 220

-- query
SELECT count(*), sum(id), count(DISTINCT _row_id) FROM t2;
----
15 | 1155 | 15

-- query
SELECT count(*), sum(id) FROM t1 VERSION AS OF ${before1};
----
20 | 190

-- query
SELECT count(*), sum(id) FROM t2 VERSION AS OF ${before2};
----
17 | 172

CALL ${catalog}.system.rewrite_manifests(table => 'db.t2');

CALL ${catalog}.system.rewrite_data_files(table => 'db.t2', options => map('rewrite-all', 'true'));

CALL ${catalog}.system.expire_snapshots(table => 'db.t2', older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => 1);

-- query
SELECT count(*), sum(id) FROM t2;
----
15 | 1155
