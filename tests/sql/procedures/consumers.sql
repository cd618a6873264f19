-- Consumers of streams are tags of the table, which are listed and dropped.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

ALTER TABLE t CREATE TAG `stream-hourly` RETAIN 7 DAYS;

-- let position
SELECT snapshot_id FROM db.t.refs WHERE name = 'stream-hourly';

-- let time
SELECT unix_millis(committed_at) FROM db.t.snapshots;

INSERT INTO t VALUES (2);

-- query
CALL ${catalog}.system.consumers(table => 'db.t');
----
hourly | ${position} | ${time} | 1 | 1

-- error consumer
CALL ${catalog}.system.drop_consumer(table => 'db.t', consumer_id => 'daily');

-- query
CALL ${catalog}.system.drop_consumer(table => 'db.t', consumer_id => 'hourly');
----
${position}

-- query
SELECT name FROM db.t.refs;
----
main

-- query
CALL ${catalog}.system.consumers('db.t');
----
