-- NOT NULL can be dropped, but never added.

CREATE TABLE t (id INT NOT NULL, data STRING) USING iceberg;

INSERT INTO t VALUES (1, 'a');

ALTER TABLE t ALTER COLUMN id DROP NOT NULL;

INSERT INTO t VALUES (NULL, 'b');

-- query
SELECT * FROM t ORDER BY data;
----
1 | a
NULL | b

-- error Cannot change nullable column to non-nullable
ALTER TABLE t ALTER COLUMN data SET NOT NULL;

-- error required column
ALTER TABLE t ADD COLUMN x INT NOT NULL;
