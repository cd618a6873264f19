-- A default in CREATE TABLE applies to writes that omit the column.
-- proves: spark/defaults-declared

CREATE TABLE t (id INT NOT NULL, c STRING DEFAULT 'x', d INT DEFAULT 2 + 3)
USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO t (id) VALUES (1);

INSERT INTO t VALUES (2, DEFAULT, DEFAULT), (3, NULL, 7);

INSERT INTO t (d, id) SELECT 9, 4;

INSERT INTO t BY NAME SELECT 5 AS id, 'five' AS c;

-- query
SELECT * FROM t ORDER BY id;
----
1 | x | 5
2 | x | 5
3 | NULL | 7
4 | x | 9
5 | five | 5

-- error Cannot write to ${catalog}.db.t: the rows lack the column id, which is NOT NULL and has no default
INSERT INTO t (c) VALUES ('no id');

-- The default of later writes changes; existing rows do not.
ALTER TABLE t ALTER COLUMN c SET DEFAULT 'y';

INSERT INTO t (id) VALUES (6);

ALTER TABLE t ALTER COLUMN c DROP DEFAULT;

INSERT INTO t (id) VALUES (7);

-- query
SELECT id, c FROM t WHERE id IN (1, 6, 7) ORDER BY id;
----
1 | x
6 | y
7 | NULL

-- A table that is created from a query has no defaults.
CREATE TABLE copy USING iceberg AS SELECT * FROM t;

INSERT INTO copy (id) VALUES (8);

-- query
SELECT * FROM copy WHERE id = 8;
----
8 | NULL | NULL
