-- A table can be rewritten from its own rows.

CREATE TABLE t (id BIGINT, n INT) USING iceberg PARTITIONED BY (bucket(3, id));

INSERT INTO t SELECT id, CAST(id AS INT) FROM range(100);

INSERT OVERWRITE t SELECT id, n + 1 FROM t WHERE id < 10;

-- query
SELECT count(*), sum(n) FROM t;
----
10 | 55
