-- CREATE and REPLACE TABLE AS SELECT write rows; a replaced table keeps its history and its properties.

CREATE TABLE t USING iceberg PARTITIONED BY (truncate(1, name)) TBLPROPERTIES ('a' = '1')
AS SELECT * FROM VALUES (1, 'ab'), (2, 'cd') AS v(id, name);

-- query
SELECT * FROM t ORDER BY id;
----
1 | ab
2 | cd

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

CREATE OR REPLACE TABLE t USING iceberg TBLPROPERTIES ('b' = '2') AS SELECT 'x' AS name, 7L AS n;

-- query
SELECT * FROM t;
----
x | 7

-- query
SELECT * FROM t VERSION AS OF ${first} ORDER BY id;
----
1 | ab
2 | cd

-- query
SHOW TBLPROPERTIES t ('a');
----
a | 1

-- query
SHOW TBLPROPERTIES t ('b');
----
b | 2

REPLACE TABLE t (id INT) USING iceberg;

-- query
SELECT * FROM t;
----

-- error cannot be found
REPLACE TABLE nothing (id INT) USING iceberg;

CREATE OR REPLACE TABLE u (id INT) USING iceberg;

-- error no luck
CREATE OR REPLACE TABLE u USING iceberg AS SELECT IF(id > 5, raise_error('no luck'), id) AS other FROM range(10);

-- query
DESCRIBE TABLE u;
----
id | int | NULL
