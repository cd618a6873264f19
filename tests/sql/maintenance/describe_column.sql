-- DESCRIBE EXTENDED of a column shows the statistics that metadata contains.

CREATE TABLE t (id INT COMMENT 'who', name STRING, d DATE, s STRUCT<x: INT>) USING iceberg;

-- query
DESCRIBE EXTENDED t id;
----
col_name | id
data_type | int
comment | who
min | NULL
max | NULL
num_nulls | 0
distinct_count | NULL
avg_col_len | 4
max_col_len | 4
histogram | NULL

INSERT INTO t VALUES (1, 'a', DATE '2024-01-01', NULL), (2, 'b', NULL, NULL);

INSERT INTO t VALUES (3, NULL, DATE '2023-01-01', NULL);

ANALYZE TABLE t COMPUTE STATISTICS;

-- query
DESCRIBE EXTENDED t id;
----
col_name | id
data_type | int
comment | who
min | 1
max | 3
num_nulls | 0
distinct_count | 3
avg_col_len | 4
max_col_len | 4
histogram | NULL

-- query
DESCRIBE TABLE EXTENDED ${catalog}.db.t d;
----
col_name | d
data_type | date
comment | NULL
min | 2023-01-01
max | 2024-01-01
num_nulls | 1
distinct_count | 2
avg_col_len | 4
max_col_len | 4
histogram | NULL

-- query
DESCRIBE EXTENDED t name;
----
col_name | name
data_type | string
comment | NULL
min | NULL
max | NULL
num_nulls | 1
distinct_count | 2
avg_col_len | NULL
max_col_len | NULL
histogram | NULL

-- Without EXTENDED there are no statistics.
-- query
DESCRIBE t d;
----
col_name | d
data_type | date
comment | NULL

-- error `idd`
DESCRIBE EXTENDED t idd;
