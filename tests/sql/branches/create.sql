-- A branch is created at a snapshot, moved, given retention settings, and dropped.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (2);

ALTER TABLE t CREATE BRANCH now;

ALTER TABLE t CREATE BRANCH `then` AS OF VERSION ${first} RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS 3 HOURS;

alter table t create branch if not exists now as of version ${first};

ALTER TABLE t CREATE BRANCH by_count WITH SNAPSHOT RETENTION 5 SNAPSHOTS;

ALTER TABLE t CREATE BRANCH by_age RETAIN 90 MINUTES WITH SNAPSHOT RETENTION 1 DAYS;

-- query
SELECT name, type, snapshot_id = ${first}, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms
FROM ${catalog}.db.t.refs ORDER BY name;
----
by_age | BRANCH | false | 5400000 | NULL | 86400000
by_count | BRANCH | false | NULL | 5 | NULL
main | BRANCH | false | NULL | NULL | NULL
now | BRANCH | false | NULL | NULL | NULL
then | BRANCH | true | 604800000 | 2 | 10800000

-- Moving a branch keeps the retention settings that the statement does not set.
ALTER TABLE t REPLACE BRANCH then RETAIN 1 DAYS;

ALTER TABLE t CREATE OR REPLACE BRANCH now AS OF VERSION ${first};

ALTER TABLE t CREATE OR REPLACE BRANCH other AS OF VERSION ${first};

ALTER TABLE t DROP BRANCH by_age;

ALTER TABLE t DROP BRANCH IF EXISTS by_age;

ALTER TABLE t DROP BRANCH by_count;

-- query
SELECT name, snapshot_id = ${first}, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms
FROM ${catalog}.db.t.refs ORDER BY name;
----
main | false | NULL | NULL | NULL
now | true | NULL | NULL | NULL
other | true | NULL | NULL | NULL
then | false | 86400000 | 2 | 10800000

-- main is a branch as well; replacing it changes the table.
ALTER TABLE t REPLACE BRANCH main AS OF VERSION ${first} WITH SNAPSHOT RETENTION 10 SNAPSHOTS;

-- query
SELECT id FROM t;
----
1

-- query
SELECT min_snapshots_to_keep FROM ${catalog}.db.t.refs WHERE name = 'main';
----
10
