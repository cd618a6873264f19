-- DESCRIBE HISTORY lists the snapshots of all branches, newest first.

CREATE TABLE t (id INT) USING iceberg;

-- query
DESCRIBE HISTORY t;
----

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

ALTER TABLE t CREATE TAG v1;

-- let only
DESCRIBE HISTORY t;

-- query
SELECT slice(split('${only}', ' [|] '), 1, 1), slice(split('${only}', ' [|] '), 3, 5);
----
[${first}] | [append, NULL, true, [main], [v1]]

-- query
SELECT '${only}' LIKE '%| spark %added-records -> 1%', '${only}' LIKE '%operation ->%';
----
true | false

ALTER TABLE t CREATE BRANCH b;

INSERT INTO ${catalog}.db.t.branch_b VALUES (2);

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.snapshots WHERE parent_id IS NOT NULL;

-- let newest
DESC HISTORY `${catalog}`.`db`.`t` LIMIT 1;

-- query
SELECT slice(split('${newest}', ' [|] '), 1, 1), slice(split('${newest}', ' [|] '), 3, 5);
----
[${second}] | [append, ${first}, false, [b], []]

-- query
DESCRIBE HISTORY t LIMIT 0;
----

-- error expected a number of rows
DESCRIBE HISTORY t LIMIT;

-- error near '5': expected the end of the statement
DESCRIBE HISTORY t LIMIT 5 5;

-- error TABLE_OR_VIEW_NOT_FOUND
DESCRIBE HISTORY missing;

-- error DESCRIBE HISTORY supports only tables of iceberg-lite catalogs
DESCRIBE HISTORY spark_catalog.default.t;

-- Spark's own statement describes a column of a table with the name history.
CREATE TABLE history (id INT, x STRING COMMENT 'a text') USING iceberg;

-- query
DESCRIBE history x;
----
col_name | x
data_type | string
comment | a text

-- query
DESCRIBE HISTORY history;
----

-- query
DESCRIBE `history` id;
----
col_name | id
data_type | int
comment | NULL
