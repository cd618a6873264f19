-- Apache Iceberg's documentation, pages spark-ddl and branching: branches and tags.

CREATE TABLE ${catalog}.db.sample (id bigint, data string, col float) USING iceberg;

INSERT INTO ${catalog}.db.sample VALUES (1, 'a', 1.0), (2, 'b', 2.0), (3, 'c', 3.0);

-- let first
SELECT snapshot_id FROM ${catalog}.db.sample.snapshots;

ALTER TABLE ${catalog}.db.sample CREATE BRANCH `audit-branch`;

ALTER TABLE ${catalog}.db.sample CREATE BRANCH IF NOT EXISTS `audit-branch`;

ALTER TABLE ${catalog}.db.sample CREATE OR REPLACE BRANCH `audit-branch`;

ALTER TABLE ${catalog}.db.sample DROP BRANCH `audit-branch`;

ALTER TABLE ${catalog}.db.sample CREATE BRANCH `audit-branch`
AS OF VERSION ${first};

ALTER TABLE ${catalog}.db.sample DROP BRANCH `audit-branch`;

ALTER TABLE ${catalog}.db.sample CREATE BRANCH `audit-branch`
AS OF VERSION ${first} RETAIN 30 DAYS
WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS;

ALTER TABLE ${catalog}.db.sample CREATE TAG `historical-tag`;

ALTER TABLE ${catalog}.db.sample CREATE TAG IF NOT EXISTS `historical-tag`;

ALTER TABLE ${catalog}.db.sample CREATE OR REPLACE TAG `historical-tag`;

ALTER TABLE ${catalog}.db.sample DROP TAG `historical-tag`;

ALTER TABLE ${catalog}.db.sample CREATE TAG `historical-tag` AS OF VERSION ${first};

ALTER TABLE ${catalog}.db.sample DROP TAG `historical-tag`;

ALTER TABLE ${catalog}.db.sample CREATE TAG `historical-tag`
AS OF VERSION ${first} RETAIN 365 DAYS;

ALTER TABLE ${catalog}.db.sample CREATE TAG `EOY-2023`
AS OF VERSION ${first} RETAIN 365 DAYS;

ALTER TABLE ${catalog}.db.sample REPLACE BRANCH `audit-branch`
AS OF VERSION ${first} RETAIN 60 DAYS;

ALTER TABLE ${catalog}.db.sample REPLACE TAG `historical-tag`
AS OF VERSION ${first} RETAIN 60 DAYS;

ALTER TABLE ${catalog}.db.sample CREATE TAG `EOW-01` AS OF VERSION ${first} RETAIN 7 DAYS;

ALTER TABLE ${catalog}.db.sample CREATE TAG `EOM-01` AS OF VERSION ${first} RETAIN 180 DAYS;

ALTER TABLE ${catalog}.db.sample CREATE BRANCH `test-branch` RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS;

ALTER TABLE ${catalog}.db.sample SET TBLPROPERTIES (
    'write.wap.enabled'='true'
);

SET spark.wap.branch = audit-branch;

INSERT INTO ${catalog}.db.sample VALUES (4, 'd', 4.0);

RESET spark.wap.branch;

-- query
SELECT count(*) FROM ${catalog}.db.sample;
----
3

CALL ${catalog}.system.fast_forward('db.sample', 'main', 'audit-branch');

-- query
SELECT count(*) FROM ${catalog}.db.sample;
----
4

ALTER TABLE ${catalog}.db.sample CREATE BRANCH test_branch AS OF VERSION ${first};

ALTER TABLE ${catalog}.db.sample DROP COLUMN col;

ALTER TABLE ${catalog}.db.sample ADD COLUMN new_col date;

INSERT INTO ${catalog}.db.sample VALUES (4, 'd', date('2024-04-04')), (5, 'e', date('2024-05-05'));

-- query
SELECT * FROM ${catalog}.db.sample.branch_test_branch ORDER BY id;
----
1 | a | NULL
2 | b | NULL
3 | c | NULL

-- query
SELECT * FROM ${catalog}.db.sample VERSION AS OF 'test_branch' ORDER BY id;
----
1 | a | NULL
2 | b | NULL
3 | c | NULL

-- query
SELECT * FROM ${catalog}.db.sample VERSION AS OF ${first} ORDER BY id;
----
1 | a | 1.0
2 | b | 2.0
3 | c | 3.0

INSERT INTO ${catalog}.db.sample.branch_test_branch VALUES (6, 'e', date('2024-06-06')), (7, 'g', date('2024-07-07'));

-- query
SELECT count(*) FROM ${catalog}.db.sample.branch_test_branch;
----
5

ALTER TABLE ${catalog}.db.sample DROP BRANCH `audit-branch`;

ALTER TABLE ${catalog}.db.sample DROP TAG `historical-tag`;
