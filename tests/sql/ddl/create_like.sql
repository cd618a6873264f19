-- CREATE TABLE LIKE creates an empty table with the definition of another table or view.

CREATE TABLE s (
  id BIGINT NOT NULL COMMENT 'who',
  code CHAR(3),
  name STRING DEFAULT 'abc',
  p STRUCT<x: INT COMMENT 'left', y: VARCHAR(5)> COMMENT 'point',
  ts TIMESTAMP
) USING iceberg
PARTITIONED BY (days(ts), bucket(4, id))
COMMENT 'the source'
TBLPROPERTIES ('format-version' = '3', 'team' = 'data', 'write.format.default' = 'orc');

ALTER TABLE s SET IDENTIFIER FIELDS id;

ALTER TABLE s WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY truncate(2, code) DESC, id;

ALTER TABLE s REPLACE PARTITION FIELD days(ts) WITH hours(ts) AS hour;

INSERT INTO s VALUES (1, 'a', 'n', NULL, TIMESTAMP '2024-01-01 00:00:00');

CREATE TABLE t LIKE s;

-- query
SELECT * FROM t;
----

-- query
DESCRIBE TABLE t;
----
id | bigint | who
code | char(3) | NULL
name | string | NULL
p | struct<x:int,y:varchar(5)> | point
ts | timestamp | NULL
 |  | 
# Partitioning |  | 
Part 0 | bucket(4, id) | 
Part 1 | hours(ts) | 

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | truncate(code, 2) DESC NULLS LAST, id ASC NULLS FIRST

-- query
SHOW TBLPROPERTIES t ('identifier-fields');
----
identifier-fields | [id]

-- query
SHOW TBLPROPERTIES t ('write.distribution-mode');
----
write.distribution-mode | hash

-- query
SHOW TBLPROPERTIES t ('format');
----
format | iceberg/orc

-- query
SHOW TBLPROPERTIES t ('format-version');
----
format-version | 3

-- Other properties and the comment are not copied, as in Spark's own statement.
-- query
SHOW TBLPROPERTIES t ('team');
----
team | Table ${catalog}.db.t does not have property: team

INSERT INTO t (id) VALUES (1);

-- query
SELECT id, code, name FROM t;
----
1 | NULL | abc

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
1

-- error already exists
CREATE TABLE t LIKE s;

CREATE TABLE IF NOT EXISTS t LIKE s;

CREATE TABLE ${catalog}.db.u LIKE ${catalog}.db.s USING parquet TBLPROPERTIES ('team' = 'x');

-- query
SHOW TBLPROPERTIES u ('format');
----
format | iceberg/parquet

-- query
SHOW TBLPROPERTIES u ('team');
----
team | x

-- From a view, only the columns are copied.
CREATE TEMPORARY VIEW v AS SELECT id, 'x' AS name FROM s;

CREATE TABLE of_view LIKE v;

-- query
DESCRIBE TABLE of_view;
----
id | bigint | who
name | string | NULL

-- error did you mean `s`?
CREATE TABLE w LIKE ss;

-- error only one clause USING is allowed
CREATE TABLE w LIKE s USING iceberg USING iceberg;

-- error write USING iceberg
CREATE TABLE w LIKE s STORED AS PARQUET;

-- error USING iceberg
CREATE TABLE w LIKE s USING csv;

-- error Remove the snapshot, branch or tag from the name of the table
CREATE TABLE w LIKE ${catalog}.db.s.branch_main;

-- error expected the end of the statement
CREATE TABLE w LIKE s COMMENT 'no such clause';
