-- The properties current-snapshot-id and cherry-pick-snapshot-id change the current snapshot; computed properties, such
-- as uuid, cannot be set.

CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

SET spark.wap.id = x;

INSERT INTO t VALUES (2);

RESET spark.wap.id;

-- let staged
SELECT snapshot_id FROM ${catalog}.db.t.snapshots WHERE summary['wap.id'] = 'x';

INSERT INTO t VALUES (3);

ALTER TABLE t SET TBLPROPERTIES ('cherry-pick-snapshot-id' = '${staged}');

-- query
SELECT * FROM t ORDER BY id;
----
1
2
3

ALTER TABLE t SET TBLPROPERTIES ('Current-Snapshot-Id' = '${first}', 'team' = 'us');

-- query
SELECT * FROM t;
----
1

-- error Snapshot not found: 5
ALTER TABLE t SET TBLPROPERTIES ('current-snapshot-id' = '5');

-- error It must be the id of a snapshot
ALTER TABLE t SET TBLPROPERTIES ('cherry-pick-snapshot-id' = 'main');

-- error the result depends on the order
ALTER TABLE t SET TBLPROPERTIES ('cherry-pick-snapshot-id' = '${staged}', 'current-snapshot-id' = '${first}');

-- error ALTER TABLE ... WRITE ORDERED BY
ALTER TABLE t SET TBLPROPERTIES ('sort-order' = 'id');

-- error write.format.default
ALTER TABLE t SET TBLPROPERTIES ('format' = 'orc');

-- error cannot be removed
ALTER TABLE t UNSET TBLPROPERTIES ('current-snapshot-id');

-- error uuid
ALTER TABLE t SET TBLPROPERTIES ('uuid' = 'x');
