-- A Bloom index skips files of point queries, and returns the same rows.
-- proves: statistics/bloom-index
CREATE TABLE events (id BIGINT, tag STRING, at DATE) USING iceberg;

INSERT INTO events VALUES (1, 'a', DATE'2024-01-01'), (100, 'b', DATE'2024-01-02');

INSERT INTO events VALUES (2, 'c', DATE'2024-01-03'), (99, 'd', NULL);

INSERT INTO events VALUES (3, 'e', DATE'2024-01-05'), (98, NULL, DATE'2024-01-06');

ALTER TABLE events SET BLOOM INDEX (id, tag, at);

ANALYZE TABLE events COMPUTE STATISTICS FOR COLUMNS id;

-- query
SELECT id, tag FROM events WHERE id = 50;
----

-- query
SELECT id, tag FROM events WHERE id = 2;
----
2 | c

-- query
SELECT id, tag FROM events WHERE id IN (1, 50, 98) ORDER BY id;
----
1 | a
98 | NULL

-- query
SELECT id FROM events WHERE tag = 'b' OR at = DATE'2024-01-05' ORDER BY id;
----
3
100

-- query
SELECT id FROM events WHERE tag IS NULL AND id = 98;
----
98

-- query
SELECT events.id FROM events JOIN (VALUES (99L), (50L)) AS keys(id) ON events.id = keys.id;
----
99

ALTER TABLE events DROP BLOOM INDEX (tag, at);

INSERT INTO events VALUES (50, 'new', NULL);

DELETE FROM events WHERE id = 2;

-- query
SELECT id, tag FROM events WHERE id IN (2, 50);
----
50 | new

CALL ${catalog}.system.compute_table_stats(table => 'db.events', bloom_index_only => true);

ALTER TABLE events RENAME COLUMN id TO key;

-- query
SHOW TBLPROPERTIES events ('iceberg-lite.bloom-index.columns');
----
iceberg-lite.bloom-index.columns | key

-- query
SELECT key, tag FROM events WHERE key IN (1, 50) ORDER BY key;
----
1 | a
50 | new

-- error It is not indexed
ALTER TABLE events DROP BLOOM INDEX (tag);

-- error expected columns in parentheses
ALTER TABLE events SET BLOOM INDEX;

ALTER TABLE events DROP BLOOM INDEX;

-- error No column of the table is indexed
CALL ${catalog}.system.compute_table_stats(table => 'db.events', bloom_index_only => true);

-- query
SELECT key, tag FROM events WHERE key = 1;
----
1 | a
