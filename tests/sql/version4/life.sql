-- A table of format version 4 supports writes, evolution, branches, time travel and maintenance.

CREATE TABLE t (id BIGINT, category STRING, ts TIMESTAMP) USING iceberg
PARTITIONED BY (bucket(4, id), days(ts), category) TBLPROPERTIES ('format-version' = '4');

INSERT INTO t SELECT id, IF(id % 5 = 0, NULL, CAST(id % 3 AS STRING)), timestamp_seconds(id * 40000) FROM range(20);

INSERT INTO t VALUES (100, 'x', NULL), (NULL, '', TIMESTAMP'1969-12-31 23:00:00');

-- query
SELECT count(*), count(id), count(category), count(ts), sum(id) FROM t;
----
22 | 21 | 18 | 21 | 290

-- query
SELECT id FROM t WHERE category = '1' ORDER BY id;
----
1
4
7
13
16
19

-- query
SELECT id, length(category) FROM t WHERE ts IS NULL OR id IS NULL ORDER BY id;
----
NULL | 0
100 | 1

-- let first
SELECT snapshot_id FROM db.t.snapshots ORDER BY committed_at LIMIT 1;

DELETE FROM t WHERE category = '1';

UPDATE t SET category = 'u' WHERE id IN (2, 3);

MERGE INTO t USING (SELECT id FROM range(18, 23)) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET category = 'm'
WHEN NOT MATCHED THEN INSERT (id, category) VALUES (s.id, 'new');

-- query
SELECT IF(category = '', 'empty', category) c, count(*) FROM t GROUP BY c ORDER BY c;
----
NULL | 4
0 | 3
2 | 4
empty | 1
m | 1
new | 4
u | 2
x | 1

-- query
SELECT count(*), sum(id) FROM t VERSION AS OF ${first};
----
20 | 190

ALTER TABLE t ADD COLUMN n INT;

ALTER TABLE t ADD PARTITION FIELD truncate(2, category);

ALTER TABLE t DROP PARTITION FIELD days(ts);

ALTER TABLE t CREATE BRANCH work;

INSERT INTO db.t.branch_work VALUES (200, 'branch', TIMESTAMP'2024-01-01 00:00:00', 7);

-- query
SELECT id, category, n FROM db.t.branch_work WHERE n = 7;
----
200 | branch | 7

-- query
SELECT count(*) FROM t;
----
20

CALL ${catalog}.system.fast_forward(table => 'db.t', branch => 'main', to => 'work');

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'));

CALL ${catalog}.system.rewrite_manifests(table => 'db.t');

-- query
CALL ${catalog}.system.validate_tree(table => 'db.t', snapshot_id => ${first});
----

-- The branch work keeps its snapshot.
CALL ${catalog}.system.expire_snapshots(table => 'db.t', older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => 1);

-- query
SELECT count(*), sum(id), sum(n) FROM t;
----
21 | 512 | 7

-- query
SELECT count(*) FROM db.t.snapshots;
----
2

-- The parent of the snapshot has expired, so that the rules about the parent are not checked.
-- query
CALL ${catalog}.system.validate_tree(table => 'db.t');
----

-- query
SELECT sum(record_count) FROM db.t.files;
----
21

DELETE FROM t;

-- query
SELECT count(*) FROM t;
----
0

-- error cannot be lowered
ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3');

-- query
CALL ${catalog}.system.validate_tree(table => 'db.t');
----
