-- A column of a table of format version 4 gets a wider type. Commits merge leaf manifests from before and after that.

CREATE TABLE t (n INT, p STRING) USING iceberg PARTITIONED BY (p)
TBLPROPERTIES ('format-version' = '4', 'write.v4.single-commit-max-files' = '1');

INSERT INTO t VALUES (1, 'a'), (2, 'b');

INSERT INTO t VALUES (3, 'a'), (4, 'b');

INSERT INTO t VALUES (5, 'a'), (6, 'b');

INSERT INTO t VALUES (7, 'a'), (8, 'b');

-- query
SELECT count(*), sum(n) FROM t WHERE n > 2;
----
6 | 33

ALTER TABLE t ALTER COLUMN n TYPE BIGINT;

INSERT INTO t VALUES (3000000001, 'a'), (-3000000002, 'b');

INSERT INTO t VALUES (3000000003, 'a'), (-3000000004, 'b');

INSERT INTO t VALUES (3000000005, 'a'), (-3000000006, 'b');

INSERT INTO t VALUES (3000000007, 'a'), (-3000000008, 'b');

INSERT INTO t VALUES (9, 'a');

-- query
SELECT count(*), sum(n) FROM t WHERE n BETWEEN 2 AND 9;
----
8 | 44

-- query
SELECT count(*), max(n), min(n) FROM t WHERE abs(n) > 2147483647;
----
8 | 3000000007 | -3000000008

DELETE FROM t WHERE n < 5 AND p = 'b';

CALL ${catalog}.system.rewrite_manifests(table => 'db.t');

-- query
SELECT n FROM t WHERE p = 'b' ORDER BY n;
----
6
8

-- query
CALL ${catalog}.system.validate_tree(table => 'db.t');
----
