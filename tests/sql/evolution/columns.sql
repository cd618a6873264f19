-- Columns are added, renamed, reordered, widened and dropped; existing rows stay readable.
-- proves: spark/evolution-by-sql

CREATE TABLE t (id INT, data STRING, x FLOAT) USING iceberg;

INSERT INTO t VALUES (1, 'a', 1.5);

ALTER TABLE t ADD COLUMNS (n INT COMMENT 'number', after_id STRING AFTER id);

ALTER TABLE t RENAME COLUMN data TO text;

ALTER TABLE t ALTER COLUMN id TYPE BIGINT;

ALTER TABLE t ALTER COLUMN x TYPE DOUBLE;

ALTER TABLE t ALTER COLUMN n COMMENT 'a number';

ALTER TABLE t ALTER COLUMN n FIRST;

INSERT INTO t VALUES (7, 10000000000, 'between', 'b', 2.5);

-- query
SELECT * FROM t ORDER BY id;
----
NULL | 1 | NULL | a | 1.5
7 | 10000000000 | between | b | 2.5

-- query
DESCRIBE TABLE t;
----
n | int | a number
id | bigint | NULL
after_id | string | NULL
text | string | NULL
x | double | NULL

ALTER TABLE t DROP COLUMN text;

ALTER TABLE t ADD COLUMN text STRING;

-- query
SELECT id, text FROM t ORDER BY id;
----
1 | NULL
10000000000 | NULL

-- error NOT_SUPPORTED_CHANGE_COLUMN
ALTER TABLE t ALTER COLUMN id TYPE INT;

-- error TABLE_OR_VIEW_NOT_FOUND
ALTER TABLE nothing ADD COLUMN a INT;

-- error exists
ALTER TABLE t ADD COLUMN id INT;
