-- WRITE sets the distribution and the sort order of later writes.

CREATE TABLE t (id BIGINT, data STRING, ts TIMESTAMP, s STRUCT<x: INT>, `odd.name` INT) USING iceberg PARTITIONED BY (days(ts));

INSERT INTO t VALUES (3, 'c', TIMESTAMP '2024-01-01 00:00:00', named_struct('x', 3), 3);

ALTER TABLE t WRITE ORDERED BY id DESC, truncate(data, 2) NULLS LAST;

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | id DESC NULLS LAST, truncate(data, 2) ASC NULLS LAST

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | range

INSERT INTO t SELECT id, concat('n', id), TIMESTAMP '2024-01-02 00:00:00', named_struct('x', id), id FROM range(10);

-- query
SELECT spec_id, sort_order_id, count(*) FROM ${catalog}.db.t.files GROUP BY 1, 2 ORDER BY 2;
----
0 | 0 | 1
0 | 1 | 1

-- query
SELECT id FROM t ORDER BY ts, id;
----
3
0
1
2
3
4
5
6
7
8
9

alter table t write locally ordered by (s.x desc nulls first, `odd.name`);

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | s.x DESC NULLS FIRST, `odd.name` ASC NULLS FIRST

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | range

ALTER TABLE t WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY bucket(4, id), days(ts);

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | bucket(4, id) ASC NULLS FIRST, days(ts) ASC NULLS FIRST

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | hash

ALTER TABLE t WRITE ORDERED BY id DISTRIBUTED BY PARTITION;

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | hash

ALTER TABLE t WRITE DISTRIBUTED BY PARTITION;

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | Table ${catalog}.db.t does not have property: sort-order

ALTER TABLE t WRITE UNORDERED;

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | none

INSERT INTO t VALUES (11, 'x', TIMESTAMP '2024-01-03 00:00:00', NULL, NULL);

-- query
SELECT count(*) FROM t;
----
12
