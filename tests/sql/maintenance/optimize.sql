-- OPTIMIZE combines small files, and sorts rows along a Z-order.

CREATE TABLE t (id INT, p INT, s STRUCT<x: INT>) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 1, named_struct('x', 1));

INSERT INTO t VALUES (2, 1, NULL);

INSERT INTO t VALUES (3, 1, NULL), (4, 2, NULL);

INSERT INTO t VALUES (5, 1, NULL);

INSERT INTO t VALUES (6, 1, NULL);

-- query
OPTIMIZE t WHERE p = 2;
----
0 | 0 | 0 | 0 | 0 | []

-- query
SELECT count(*) FROM ${catalog}.db.t.files;
----
6

-- let done
OPTIMIZE ${catalog}.db.t WHERE p IN (1, 3) AND id < 100;

-- query
SELECT slice(split('${done}', ' [|] '), 1, 2);
----
[5, 1]

-- query
SELECT partition.p, record_count FROM ${catalog}.db.t.files ORDER BY 1;
----
1 | 5
2 | 1

-- A Z-order rewrites all files, whatever their size.
-- let sorted
optimize `${catalog}`.`db`.`t` ZORDER BY (id, s.x);

-- query
SELECT slice(split('${sorted}', ' [|] '), 1, 2);
----
[2, 2]

-- query
OPTIMIZE t WHERE p = 5 ZORDER BY id;
----
0 | 0 | 0 | 0 | 0 | []

-- query
SELECT id, p FROM t ORDER BY id;
----
1 | 1
2 | 1
3 | 1
4 | 2
5 | 1
6 | 1

-- query
SELECT operation FROM ${catalog}.db.t.snapshots WHERE operation <> 'append';
----
replace
replace

-- error UNRESOLVED_COLUMN
OPTIMIZE t WHERE ip = 1;

-- error UNRESOLVED_COLUMN
OPTIMIZE t ZORDER BY (id, y);

-- error cannot be Z-ordered
OPTIMIZE t ZORDER BY (s);

-- error the column id is given twice
OPTIMIZE t ZORDER BY (id, id);

-- error No part of it can be evaluated on files
OPTIMIZE t WHERE hash(id) = 5;

-- error near '(': the condition must not contain a subquery
OPTIMIZE t WHERE (SELECT true);

-- error near end of input: expected a condition
OPTIMIZE t WHERE;

-- error near ')': expected a column
OPTIMIZE t ZORDER BY ();

-- error near 'ZORDR': expected the end of the statement
OPTIMIZE t ZORDR BY (id);

-- error expected the name of a table
OPTIMIZE;

-- error TABLE_OR_VIEW_NOT_FOUND
OPTIMIZE missing;

-- error It is not an iceberg-lite table
OPTIMIZE ${catalog}.db.t.snapshots;

-- error OPTIMIZE supports only tables of iceberg-lite catalogs
OPTIMIZE spark_catalog.default.t;
