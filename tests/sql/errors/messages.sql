-- Error messages say what to do.

CREATE TABLE flights (id INT, ts TIMESTAMP) USING iceberg;

-- error did you mean `flights`?
SELECT * FROM fligths;

-- error did you mean `flights`?
INSERT INTO fligth VALUES (1, NULL);

-- error `idd`
SELECT idd FROM flights;

-- error USING iceberg
CREATE TABLE t (id INT) USING csv;

-- error db.t: Unsupported: column i of Spark's type INTERVAL DAY
CREATE TABLE t (id INT, i INTERVAL DAY) USING iceberg;

-- error db.flights: Unsupported: column i of Spark's type INTERVAL DAY
ALTER TABLE flights ADD COLUMN i INTERVAL DAY;

-- error Set the table property format-version to 3
CREATE TABLE t (id INT DEFAULT 5) USING iceberg;

-- error Invalid value for transform
CREATE TABLE t (id INT) USING iceberg PARTITIONED BY (zorder(id));

-- error do not support this transform
CREATE TABLE t (id INT) USING iceberg PARTITIONED BY (days(id));

-- error format-version
CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '9');

-- query
SHOW TABLES;
----
db | flights | false
