-- Invalid defaults are rejected, and so are defaults in tables of versions 1 and 2.
-- proves: spark/defaults-declared

-- error format-version
CREATE TABLE old (id INT, c INT DEFAULT 5) USING iceberg TBLPROPERTIES ('format-version' = '2');

CREATE TABLE old (id INT) USING iceberg TBLPROPERTIES ('format-version' = '2');

-- error format-version to 3
ALTER TABLE old ADD COLUMN c INT DEFAULT 5;

-- error Cannot add required column c
ALTER TABLE old ADD COLUMN c INT NOT NULL;

ALTER TABLE old SET TBLPROPERTIES ('format-version' = '3');

ALTER TABLE old ADD COLUMN c INT NOT NULL DEFAULT 5;

-- error Invalid value for default of column a: current_timestamp()
CREATE TABLE t (id INT, a TIMESTAMP DEFAULT current_timestamp()) USING iceberg TBLPROPERTIES ('format-version' = '3');

-- error NOT_CONSTANT
CREATE TABLE t (id INT, a DOUBLE DEFAULT rand()) USING iceberg TBLPROPERTIES ('format-version' = '3');

-- error DEFAULT
CREATE TABLE t (id INT, a INT DEFAULT 'no number') USING iceberg TBLPROPERTIES ('format-version' = '3');

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3');

-- error Set defaults for the fields
ALTER TABLE t ADD COLUMN s STRUCT<a: INT> DEFAULT named_struct('a', 1);

-- error can differ between evaluations
ALTER TABLE t ADD COLUMN s DATE DEFAULT current_date();

-- error can differ between evaluations
ALTER TABLE t ALTER COLUMN id SET DEFAULT year(current_date());

ALTER TABLE t ADD COLUMN s STRUCT<a: INT> DEFAULT named_struct('a', CAST(NULL AS INT));

INSERT INTO t (id) VALUES (1);

-- query
SELECT id, s IS NULL, s FROM t;
----
1 | false | {null}

-- error DEFAULT
INSERT INTO t VALUES (DEFAULT + 1, NULL);
