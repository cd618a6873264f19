-- Table properties are set and removed; some properties, such as format-version, change other table metadata.

CREATE TABLE t (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '1');

-- query
SHOW TBLPROPERTIES t ('format-version');
----
format-version | 1

ALTER TABLE t SET TBLPROPERTIES ('format-version' = '2', 'read.split.target-size' = '1000000', 'comment' = 'hello');

-- query
SHOW TBLPROPERTIES t ('format-version');
----
format-version | 2

-- error which cannot be lowered
ALTER TABLE t SET TBLPROPERTIES ('format-version' = '1');

ALTER TABLE t UNSET TBLPROPERTIES ('read.split.target-size');

-- query
SHOW TBLPROPERTIES t ('read.split.target-size');
----
read.split.target-size | Table ${catalog}.db.t does not have property: read.split.target-size

-- error WRITE ORDERED BY
ALTER TABLE t SET TBLPROPERTIES ('sort-order' = 'id');

-- error SET IDENTIFIER FIELDS
ALTER TABLE t SET TBLPROPERTIES ('identifier-fields' = 'id');

-- error commit.retry.num-retries
ALTER TABLE t SET TBLPROPERTIES ('commit.retry.num-retries' = 'many');

-- error snapshot
ALTER TABLE t SET TBLPROPERTIES ('current-snapshot-id' = '42');

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (2);

ALTER TABLE t SET TBLPROPERTIES ('current-snapshot-id' = '${first}');

-- query
SELECT * FROM t;
----
1

-- query
SHOW TBLPROPERTIES t ('current-snapshot-id');
----
current-snapshot-id | ${first}
