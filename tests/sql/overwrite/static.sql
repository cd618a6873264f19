-- INSERT OVERWRITE replaces one partition, or the whole table.

CREATE TABLE t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL);

INSERT OVERWRITE t PARTITION (p = 'a') SELECT 10L;

-- query
SELECT * FROM t ORDER BY id;
----
2 | b
3 | NULL
10 | a

INSERT OVERWRITE t VALUES (4, 'c');

-- query
SELECT * FROM t;
----
4 | c

-- query
SELECT operation FROM ${catalog}.db.t.snapshots ORDER BY committed_at;
----
append
overwrite
overwrite
