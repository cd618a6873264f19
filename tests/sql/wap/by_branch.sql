-- With spark.wap.branch, the session writes to a branch, and reads it once it exists.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO t VALUES (1, 'a');

SET spark.wap.branch = audit;

-- query
SELECT id FROM t;
----
1

INSERT INTO t VALUES (2, 'b');

DELETE FROM t WHERE p = 'a';

-- query
SELECT id FROM t;
----
2

-- A name that selects a state takes precedence over the session's branch.
-- query
SELECT id FROM ${catalog}.db.t.branch_main;
----
1

-- query
SELECT id FROM t VERSION AS OF 'main';
----
1

RESET spark.wap.branch;

-- query
SELECT id FROM t;
----
1

CALL ${catalog}.system.fast_forward('db.t', 'main', 'audit');

-- query
SELECT id FROM t;
----
2
