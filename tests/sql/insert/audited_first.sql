-- Write-audit-publish is not there yet: a write that asks for it is refused, and nothing shows.

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true');

SET spark.wap.branch = audit;

-- error spark.wap.branch
INSERT INTO t VALUES (1);

RESET spark.wap.branch;

INSERT INTO t VALUES (2);

-- query
SELECT * FROM t;
----
2
