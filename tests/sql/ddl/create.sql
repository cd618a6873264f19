-- A table is created, described and dropped.

CREATE TABLE t (
  id BIGINT NOT NULL COMMENT 'who',
  data STRING,
  ts TIMESTAMP
) USING iceberg
PARTITIONED BY (days(ts), bucket(4, id))
COMMENT 'a table of tests'
TBLPROPERTIES ('owner.team' = 'data');

-- query
SHOW TABLES;
----
db | t | false

-- query
DESCRIBE TABLE t;
----
id | bigint | who
data | string | NULL
ts | timestamp | NULL
 |  | 
# Partitioning |  | 
Part 0 | days(ts) | 
Part 1 | bucket(4, id) | 

-- query
SHOW TBLPROPERTIES t ('owner.team');
----
owner.team | data

-- query
SHOW TBLPROPERTIES t ('format-version');
----
format-version | 2

-- error already exists
CREATE TABLE t (id BIGINT) USING iceberg;

CREATE TABLE IF NOT EXISTS t (other STRING) USING iceberg;

DROP TABLE t;

-- query
SHOW TABLES;
----

DROP TABLE IF EXISTS t;

-- error cannot be found
DROP TABLE t;
