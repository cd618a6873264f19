-- Expressions of a table of format version 4 are listed, created and dropped. Commits keep them.

CREATE TABLE t (id BIGINT, name STRING, ts TIMESTAMP) USING iceberg
PARTITIONED BY (days(ts)) TBLPROPERTIES ('format-version' = '4');

-- query
CALL ${catalog}.system.expressions(table => 'db.t');
----
4 | ts_day | days(ts) | 1000

-- query
CALL ${catalog}.system.create_expression(table => 'db.t', expression => 'bucket(16, id)');
----
5 | id_bucket

-- query
CALL ${catalog}.system.create_expression('db.t', 'truncate(2, name)', 'prefix');
----
6 | prefix

INSERT INTO t VALUES (1, 'abc', TIMESTAMP'2026-01-02 03:04:05'), (2, NULL, TIMESTAMP'2026-01-03 00:00:00');

ALTER TABLE t ADD COLUMN n INT;

INSERT INTO t VALUES (3, 'x', TIMESTAMP'2026-01-04 00:00:00', 7);

DELETE FROM t WHERE id = 2;

-- query
CALL ${catalog}.system.expressions('db.t');
----
4 | ts_day | days(ts) | 1000
5 | id_bucket | bucket(16, id) | NULL
6 | prefix | truncate(2, name) | NULL

-- query
SELECT id, name, n FROM t ORDER BY id;
----
1 | abc | NULL
3 | x | 7

-- error It has the same values
CALL ${catalog}.system.create_expression('db.t', 'days(ts)', 'other');

-- error Choose another name
CALL ${catalog}.system.create_expression('db.t', 'bucket(8, id)', 'prefix');

-- error must be a transform of a column
CALL ${catalog}.system.create_expression('db.t', 'id + 1');

-- error those of the column itself
CALL ${catalog}.system.create_expression('db.t', 'identity(id)');

-- error do not support this transform
CALL ${catalog}.system.create_expression('db.t', 'days(name)');

-- error must not be blank
CALL ${catalog}.system.create_expression('db.t', 'bucket(8, id)', ' ');

-- error its values are the partition values of the field ts_day
CALL ${catalog}.system.drop_expression('db.t', 4);

-- error The ids of the expressions are 4, 5, 6
CALL ${catalog}.system.drop_expression('db.t', 5000);

-- query
CALL ${catalog}.system.drop_expression(table => 'db.t', expression_id => 6);
----
prefix

-- The id of a dropped expression is not used again. The column n has the id 7.
-- query
CALL ${catalog}.system.create_expression('db.t', 'truncate(3, name)');
----
8 | name_trunc

-- query
CALL ${catalog}.system.validate_tree(table => 'db.t');
----

CREATE TABLE old (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '2');

-- query
CALL ${catalog}.system.expressions('db.old');
----

-- error Upgrade the table to format version 4
CALL ${catalog}.system.create_expression('db.old', 'bucket(8, id)');
