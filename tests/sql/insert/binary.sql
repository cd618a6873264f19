-- A table can be partitioned by binary values, and conditions with binary values are sent to tasks.

CREATE TABLE t (b BINARY, n INT) USING iceberg PARTITIONED BY (truncate(1, b));

INSERT INTO t VALUES (X'01FF', 1), (X'02', 2), (NULL, 3), (X'', 4);

-- query
SELECT hex(b), n FROM t WHERE b > X'01' ORDER BY n;
----
01FF | 1
02 | 2

-- query
SELECT n FROM t WHERE b = X'' OR b IS NULL ORDER BY n;
----
3
4

DELETE FROM t WHERE b = X'02';

-- query
SELECT count(*) FROM t;
----
3
