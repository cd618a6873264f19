-- Contradictory session settings are rejected before anything is written.

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO t VALUES (1);

ALTER TABLE t CREATE BRANCH work;

ALTER TABLE t CREATE TAG v;

SET spark.wap.branch = audit;

-- error The session has spark.wap.branch=audit
INSERT INTO ${catalog}.db.t.branch_work VALUES (2);

-- error The session has spark.wap.branch=audit
DELETE FROM ${catalog}.db.t.branch_work;

INSERT INTO t VALUES (3);

INSERT INTO ${catalog}.db.t.branch_audit VALUES (4);

SET spark.wap.id = load;

-- error spark.wap.id and spark.wap.branch
INSERT INTO t VALUES (2);

RESET spark.wap.branch;

-- error The session has spark.wap.id=load
INSERT INTO ${catalog}.db.t.branch_work VALUES (2);

RESET spark.wap.id;

SET spark.wap.branch = v;

-- error It is a tag
INSERT INTO t VALUES (2);

RESET spark.wap.branch;

-- error It must be true or false
ALTER TABLE t SET TBLPROPERTIES ('write.wap.enabled' = 'maybe');

-- query
SELECT * FROM t;
----
1

-- query
SELECT * FROM ${catalog}.db.t.branch_audit ORDER BY id;
----
1
3
4
