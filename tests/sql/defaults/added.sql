-- A default in ADD COLUMN applies to existing rows as well, and filters use it.
-- proves: spark/initial-defaults-read

CREATE TABLE t (id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<a: INT>>, m MAP<STRING, STRUCT<a: INT>>)
USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO t VALUES
  (1, named_struct('a', 1), array(named_struct('a', 1)), map('k', named_struct('a', 1))), (2, NULL, NULL, NULL);

ALTER TABLE t ADD COLUMN c INT DEFAULT 5;

ALTER TABLE t ADD COLUMN r STRING NOT NULL DEFAULT 'r';

ALTER TABLE t ADD COLUMNS (s.b INT DEFAULT 6, l.element.b STRING DEFAULT 'seven', m.value.b DATE DEFAULT DATE '1970-01-08');

ALTER TABLE t ADD COLUMN tags ARRAY<STRING> DEFAULT array('p', NULL) AFTER id;

ALTER TABLE t ADD COLUMN limits MAP<STRING, DECIMAL(5, 2)> DEFAULT map('low', 1.5BD);

-- query
SELECT * FROM t ORDER BY id;
----
1 | [p, null] | {1, 6} | [{1, seven}] | {k -> {1, 1970-01-08}} | 5 | r | {low -> 1.50}
2 | [p, null] | NULL | NULL | NULL | 5 | r | {low -> 1.50}

-- query
SELECT id FROM t WHERE c = 5 AND r > 'q' AND s.b = 6;
----
1

-- query
SELECT count(*) FROM t WHERE c <> 5 OR c IS NULL OR r IS NULL OR s.b > 6;
----
0

-- Explicit nulls stay null, even if the column had a default when they were written.
INSERT INTO t (id, r, c) VALUES (3, 'x', NULL);

ALTER TABLE t ALTER COLUMN c SET DEFAULT 50;

INSERT INTO t (id) VALUES (4);

ALTER TABLE t ALTER COLUMN c DROP DEFAULT;

INSERT INTO t (id) VALUES (5);

-- query
SELECT id, c, r FROM t ORDER BY id;
----
1 | 5 | r
2 | 5 | r
3 | NULL | x
4 | 50 | r
5 | NULL | r

-- query
SELECT id FROM t WHERE c IS NULL ORDER BY id;
----
3
5

-- query
SELECT id FROM t WHERE c >= 5 ORDER BY id;
----
1
2
4

-- A column that is added again after it was dropped is a different column.
ALTER TABLE t DROP COLUMN c;

ALTER TABLE t ADD COLUMN c INT;

-- query
SELECT count(c) FROM t;
----
0
