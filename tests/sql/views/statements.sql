-- Views are created, replaced, rolled back, given properties and dropped.

CREATE TABLE t (id INT, name STRING, price DOUBLE) USING iceberg;

INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'b', 3.5);

CREATE VIEW v (k COMMENT 'the key', total) COMMENT 'sums' TBLPROPERTIES ('team' = 'x')
AS SELECT name, sum(price) FROM t GROUP BY name;

-- query
SELECT * FROM v ORDER BY k;
----
a | 1.5
b | 6.0

-- query
DESCRIBE v;
----
k | string | the key
total | double | NULL

-- query
SHOW TBLPROPERTIES v ('team');
----
team | x

-- query
SHOW VIEWS LIKE 'v';
----
db | v | false

-- error View already exists
CREATE VIEW v AS SELECT 1 AS a;

CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS a;

CREATE OR REPLACE VIEW v AS SELECT id FROM t WHERE id > 1;

-- query
SELECT * FROM v ORDER BY id;
----
2
3

-- A name in a view refers to the namespace in which the view was created.
CREATE VIEW outer_view AS
WITH big AS (SELECT id FROM v) SELECT t.name, big.id FROM t JOIN big ON t.id = big.id;

-- query
SELECT * FROM ${catalog}.db.outer_view ORDER BY id;
----
b | 2
b | 3

-- error RECURSIVE_VIEW
ALTER VIEW v AS SELECT id FROM outer_view;

ALTER VIEW v AS SELECT id + 10 AS id FROM t;

-- query
CALL ${catalog}.system.rollback_view('db.v', 1);
----
3 | 1

-- query
SELECT * FROM v ORDER BY k;
----
a | 1.5
b | 6.0

-- error UNRESOLVED_COLUMN
SELECT * FROM outer_view;

ALTER VIEW v SET TBLPROPERTIES ('team' = 'y', 'note' = 'n');

ALTER VIEW v UNSET TBLPROPERTIES ('note');

-- query
SHOW TBLPROPERTIES v ('team');
----
team | y

-- error UNSUPPORTED_FEATURE.TIME_TRAVEL
SELECT * FROM v VERSION AS OF 1;

DROP VIEW outer_view;

DROP VIEW v;

-- error View not found
DROP VIEW v;

DROP VIEW IF EXISTS v;

-- error TABLE_OR_VIEW_NOT_FOUND
SELECT * FROM v;
