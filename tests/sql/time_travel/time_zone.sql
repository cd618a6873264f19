-- If the session's time zone is not UTC, partitions are UTC days, and filters and time travel use the session's zone.

SET TIME ZONE 'America/New_York';

CREATE TABLE t (id INT, ts TIMESTAMP, local TIMESTAMP_NTZ) USING iceberg PARTITIONED BY (days(ts));

INSERT INTO t VALUES
  (1, TIMESTAMP '2024-01-01 23:30:00', TIMESTAMP_NTZ '2024-01-01 23:30:00'),
  (2, TIMESTAMP '2024-01-01 12:00:00', TIMESTAMP_NTZ '2024-01-01 12:00:00');

-- query
SELECT partition.ts_day, record_count FROM ${catalog}.db.t.files ORDER BY partition.ts_day;
----
2024-01-01 | 1
2024-01-02 | 1

-- query
SELECT * FROM t WHERE ts >= TIMESTAMP '2024-01-01 19:00:00';
----
1 | 2024-01-01 23:30:00 | 2024-01-01 23:30:00

-- query
SELECT id FROM t WHERE ts < TIMESTAMP '2024-01-02 00:00:00' AND local > TIMESTAMP_NTZ '2024-01-01 13:00:00';
----
1

-- let at
SELECT committed_at FROM ${catalog}.db.t.snapshots;

INSERT INTO t VALUES (3, NULL, NULL);

-- query
SELECT count(*) FROM t TIMESTAMP AS OF '${at}';
----
2

SET TIME ZONE 'UTC';

-- query
SELECT * FROM t ORDER BY id;
----
1 | 2024-01-02 04:30:00 | 2024-01-01 23:30:00
2 | 2024-01-01 17:00:00 | 2024-01-01 12:00:00
3 | NULL | NULL
