-- A job creates a table, evolves and merges it, publishes a branch, rolls back a statement, and maintains the table.
-- JobSuite runs the same script with Apache Iceberg.

CREATE TABLE ${catalog}.db.sales (id BIGINT NOT NULL, region STRING, amount DECIMAL(10, 2), day DATE) USING iceberg
PARTITIONED BY (days(day)) TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'merge-on-read');

INSERT INTO ${catalog}.db.sales VALUES
(1, 'north', 10.00, DATE '2024-01-01'), (2, 'south', 20.00, DATE '2024-01-01'), (3, 'north', 30.00, DATE '2024-01-02');

-- let first
SELECT snapshot_id FROM ${catalog}.db.sales.snapshots;

-- The schema and the partitioning evolve.
ALTER TABLE ${catalog}.db.sales ADD COLUMN channel STRING COMMENT 'sales channel' AFTER region;

ALTER TABLE ${catalog}.db.sales ALTER COLUMN amount TYPE DECIMAL(14, 2);

ALTER TABLE ${catalog}.db.sales RENAME COLUMN region TO area;

ALTER TABLE ${catalog}.db.sales ADD PARTITION FIELD truncate(2, area);

ALTER TABLE ${catalog}.db.sales WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY id;

INSERT INTO ${catalog}.db.sales VALUES (4, 'west', 'web', 40.00, DATE '2024-01-03');

MERGE INTO ${catalog}.db.sales t
USING (SELECT * FROM VALUES (2L, 25.00, 'u'), (3L, 0.00, 'd'), (5L, 50.00, 'i') AS s(id, amount, op)) s
ON t.id = s.id
WHEN MATCHED AND s.op = 'd' THEN DELETE
WHEN MATCHED THEN UPDATE SET amount = s.amount, channel = 'shop'
WHEN NOT MATCHED THEN INSERT (id, area, channel, amount, day) VALUES (s.id, 'east', 'web', s.amount, DATE '2024-01-04');

UPDATE ${catalog}.db.sales SET area = upper(area) WHERE id = 1;

-- query
SELECT * FROM ${catalog}.db.sales ORDER BY id;
----
1 | NORTH | NULL | 10.00 | 2024-01-01
2 | south | shop | 25.00 | 2024-01-01
4 | west | web | 40.00 | 2024-01-03
5 | east | web | 50.00 | 2024-01-04

-- A branch is audited and published.
ALTER TABLE ${catalog}.db.sales CREATE BRANCH audit RETAIN 7 DAYS;

INSERT INTO ${catalog}.db.sales.branch_audit VALUES (6, 'west', 'web', -1.00, DATE '2024-01-05');

DELETE FROM ${catalog}.db.sales.branch_audit WHERE amount < 0;

INSERT INTO ${catalog}.db.sales.branch_audit VALUES (7, 'west', 'web', 70.00, DATE '2024-01-05');

-- query
SELECT count(*) FROM ${catalog}.db.sales;
----
4

CALL ${catalog}.system.fast_forward('db.sales', 'main', 'audit');

ALTER TABLE ${catalog}.db.sales DROP BRANCH audit;

-- query
SELECT area, sum(amount) FROM ${catalog}.db.sales GROUP BY area ORDER BY area;
----
NORTH | 10.00
east | 50.00
south | 25.00
west | 110.00

CREATE VIEW ${catalog}.db.totals (channel, total) AS
SELECT coalesce(channel, 'none'), sum(amount) FROM ${catalog}.db.sales GROUP BY channel;

-- query
SELECT * FROM ${catalog}.db.totals ORDER BY channel;
----
none | 10.00
shop | 25.00
web | 160.00

-- query
SELECT * FROM ${catalog}.db.sales VERSION AS OF ${first} ORDER BY id;
----
1 | north | 10.00 | 2024-01-01
2 | south | 20.00 | 2024-01-01
3 | north | 30.00 | 2024-01-02

-- let before
SELECT snapshot_id FROM ${catalog}.db.sales.history ORDER BY made_current_at DESC LIMIT 1;

-- A wrong statement is undone.
DELETE FROM ${catalog}.db.sales WHERE channel = 'web';

-- query
SELECT count(*) FROM ${catalog}.db.sales;
----
2

CALL ${catalog}.system.rollback_to_snapshot('db.sales', ${before});

CALL ${catalog}.system.rewrite_data_files(table => 'db.sales', options => map('rewrite-all', 'true'));

CALL ${catalog}.system.rewrite_manifests('db.sales');

CALL ${catalog}.system.expire_snapshots(table => 'db.sales', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1);

-- query
SELECT count(*) FROM ${catalog}.db.sales.snapshots;
----
1

-- query
SELECT * FROM ${catalog}.db.sales WHERE day >= DATE '2024-01-01' ORDER BY id;
----
1 | NORTH | NULL | 10.00 | 2024-01-01
2 | south | shop | 25.00 | 2024-01-01
4 | west | web | 40.00 | 2024-01-03
5 | east | web | 50.00 | 2024-01-04
7 | west | web | 70.00 | 2024-01-05

-- query
SELECT * FROM ${catalog}.db.totals ORDER BY channel;
----
none | 10.00
shop | 25.00
web | 160.00

DROP VIEW ${catalog}.db.totals;

DROP TABLE ${catalog}.db.sales PURGE;
