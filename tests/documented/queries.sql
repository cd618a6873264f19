-- Apache Iceberg's documentation, page spark-queries: time travel, functions and metadata tables.

CREATE TABLE ${catalog}.db.orders (
  id BIGINT,
  status STRING
) USING iceberg;

INSERT INTO ${catalog}.db.orders VALUES (1, 'NEW'), (2, 'PAID');

-- let first
SELECT snapshot_id FROM ${catalog}.db.orders.snapshots;

-- let firstTime
SELECT committed_at FROM ${catalog}.db.orders.snapshots;

ALTER TABLE ${catalog}.db.orders ADD COLUMN total DOUBLE;

INSERT INTO ${catalog}.db.orders VALUES (3, 'PAID', 100.0);

-- query
SELECT * FROM ${catalog}.db.orders VERSION AS OF ${first} ORDER BY id;
----
1 | NEW
2 | PAID

-- query
SELECT * FROM ${catalog}.db.orders TIMESTAMP AS OF '${firstTime}' ORDER BY id;
----
1 | NEW
2 | PAID

-- query
SELECT count(*) FROM ${catalog}.db.orders FOR SYSTEM_TIME AS OF '${firstTime}';
----
2

-- query
SELECT count(*) FROM ${catalog}.db.orders FOR SYSTEM_VERSION AS OF ${first};
----
2

-- error 1985
SELECT * FROM ${catalog}.db.orders TIMESTAMP AS OF 499162860;

-- error 1985
SELECT * FROM ${catalog}.db.orders FOR SYSTEM_TIME AS OF 499162860;

ALTER TABLE ${catalog}.db.orders CREATE BRANCH audit_branch AS OF VERSION ${first};

ALTER TABLE ${catalog}.db.orders CREATE TAG first_load AS OF VERSION ${first};

-- query
SELECT * FROM ${catalog}.db.orders VERSION AS OF 'audit_branch' ORDER BY id;
----
1 | NEW | NULL
2 | PAID | NULL

-- query
SELECT * FROM ${catalog}.db.orders.`branch_audit_branch` ORDER BY id;
----
1 | NEW | NULL
2 | PAID | NULL

-- query
SELECT count(*) FROM ${catalog}.db.orders FOR SYSTEM_VERSION AS OF 'audit_branch';
----
2

-- query
SELECT count(*) FROM ${catalog}.db.orders FOR SYSTEM_VERSION AS OF 'first_load';
----
2

ALTER TABLE ${catalog}.db.orders CREATE BRANCH `audit-branch` AS OF VERSION ${first};

-- query
SELECT count(*) FROM ${catalog}.db.orders.`branch_audit-branch`;
----
2

ALTER TABLE ${catalog}.db.orders CREATE TAG `historical-snapshot` AS OF VERSION ${first};

-- query
SELECT count(*) FROM ${catalog}.db.orders.`tag_historical-snapshot`;
----
2

-- query
SELECT * FROM ${catalog}.db.orders VERSION AS OF 'first_load' ORDER BY id;
----
1 | NEW
2 | PAID

-- query
SELECT * FROM ${catalog}.db.orders.`tag_first_load` ORDER BY id;
----
1 | NEW
2 | PAID

-- query
SELECT ${catalog}.system.bucket(16, id)
FROM ${catalog}.db.orders ORDER BY id;
----
4
4
3

SELECT system.iceberg_version();

-- query
SELECT count(system.bucket(16, id)), count(system.days(TIMESTAMP '2024-01-01 00:00:00'))
FROM ${catalog}.db.orders;
----
3 | 3

SELECT * FROM ${catalog}.db.orders.history;

SELECT * from ${catalog}.db.orders.metadata_log_entries;

SELECT * FROM ${catalog}.db.orders.snapshots;

-- query
select
    s.operation,
    h.is_current_ancestor,
    s.summary['spark.app.id'] IS NOT NULL
from ${catalog}.db.orders.history h
join ${catalog}.db.orders.snapshots s
  on h.snapshot_id = s.snapshot_id
order by made_current_at;
----
append | true | true
append | true | true

select
    h.made_current_at,
    s.operation,
    h.snapshot_id,
    h.is_current_ancestor,
    s.summary['spark.app.id']
from ${catalog}.db.orders.history h
join ${catalog}.db.orders.snapshots s
  on h.snapshot_id = s.snapshot_id
order by made_current_at;

SELECT * FROM ${catalog}.db.orders.entries;

SELECT * FROM ${catalog}.db.orders.files;

SELECT * FROM ${catalog}.db.orders.manifests;

SELECT * FROM ${catalog}.db.orders.partitions;

SELECT * from ${catalog}.db.orders.position_deletes;

SELECT * FROM ${catalog}.db.orders.all_data_files;

SELECT * FROM ${catalog}.db.orders.all_delete_files;

SELECT * FROM ${catalog}.db.orders.all_entries;

SELECT * FROM ${catalog}.db.orders.all_manifests;

SELECT * FROM ${catalog}.db.orders.refs;

-- query
SELECT count(*) FROM ${catalog}.db.orders.manifests TIMESTAMP AS OF '${firstTime}';
----
1

-- query
SELECT record_count FROM ${catalog}.db.orders.partitions VERSION AS OF ${first};
----
2
