-- A tag does not move when the table changes.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

ALTER TABLE t CREATE TAG `release 1.0` RETAIN 365 DAYS;

ALTER TABLE t CREATE TAG v;

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (2);

-- query
SELECT * FROM ${catalog}.db.t.`tag_release 1.0`;
----
1

-- query
SELECT * FROM t VERSION AS OF 'release 1.0';
----
1

ALTER TABLE t REPLACE TAG v;

-- query
SELECT * FROM db.t.tag_v ORDER BY id;
----
1
2

ALTER TABLE t CREATE OR REPLACE TAG v AS OF VERSION ${first} RETAIN 12 HOURS;

ALTER TABLE t CREATE TAG IF NOT EXISTS v;

-- query
SELECT name, snapshot_id = ${first}, max_reference_age_in_ms FROM db.t.refs WHERE type = 'TAG' ORDER BY name;
----
release 1.0 | true | 31536000000
v | true | 43200000

ALTER TABLE t DROP TAG v;

ALTER TABLE t DROP TAG IF EXISTS v;

-- error Snapshot, branch or tag not found: v
SELECT * FROM t VERSION AS OF 'v';

-- The id of a snapshot takes precedence over a tag of that name.
ALTER TABLE t CREATE TAG `42`;

-- query
SELECT count(*) FROM t VERSION AS OF '42';
----
2
