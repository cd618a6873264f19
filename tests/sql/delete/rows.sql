-- DELETE removes single rows, in copy-on-write or merge-on-read mode, depending on the table properties.

CREATE TABLE t (id BIGINT, p STRING, tags ARRAY<STRING>) USING iceberg PARTITIONED BY (p);

INSERT INTO t SELECT id, concat('p', id % 2), array(concat('x', id)) FROM range(10);

DELETE FROM t WHERE id = 3;

DELETE FROM t WHERE id > 5 AND p = 'p0';

-- query
SELECT id, p FROM t ORDER BY id;
----
0 | p0
1 | p1
2 | p0
4 | p0
5 | p1
7 | p1
9 | p1

DELETE FROM t WHERE id IN (SELECT max(id) FROM t) OR tags[0] = 'x1';

-- query
SELECT id FROM t ORDER BY id;
----
0
2
4
5
7

-- query
SELECT operation FROM db.t.snapshots ORDER BY committed_at;
----
append
overwrite
overwrite
overwrite

ALTER TABLE t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read');

DELETE FROM t WHERE id = 5;

DELETE FROM t WHERE id % 2 = 0 AND id > 0;

-- query
SELECT id FROM t ORDER BY id;
----
0
7

-- query
SELECT content, sum(record_count) FROM db.t.delete_files GROUP BY content;
----
1 | 3

DELETE FROM t WHERE id = 1000;

-- query
SELECT count(*) FROM db.t.snapshots;
----
6

-- error column
DELETE FROM t WHERE nothing = 1;
