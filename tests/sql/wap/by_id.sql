-- Rows written with spark.wap.id can be read by snapshot id, and become visible in the table when they are published.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO t VALUES (1, 'a');

SET spark.wap.id = load-17;

INSERT INTO t VALUES (2, 'b');

-- query
SELECT id FROM t;
----
1

-- let staged
SELECT snapshot_id FROM ${catalog}.db.t.snapshots WHERE summary['wap.id'] = 'load-17';

-- query
SELECT id FROM t VERSION AS OF ${staged} ORDER BY id;
----
1
2

-- error load-18
CALL ${catalog}.system.publish_changes('db.t', 'load-18');

RESET spark.wap.id;

INSERT INTO t VALUES (3, 'c');

CALL ${catalog}.system.publish_changes(table => 'db.t', wap_id => 'load-17');

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- query
SELECT summary['published-wap-id'], summary['source-snapshot-id'] = ${staged} FROM ${catalog}.db.t.snapshots
WHERE summary['published-wap-id'] IS NOT NULL;
----
load-17 | true

-- error it was already picked as snapshot
CALL ${catalog}.system.publish_changes('db.t', 'load-17');
