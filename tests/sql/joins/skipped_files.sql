-- A join reads only files whose bounds can contain a key of the other side, and returns the same rows.
CREATE TABLE events (id BIGINT, at TIMESTAMP) USING iceberg;

INSERT INTO events SELECT id, TIMESTAMP'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, int(id)) FROM range(0, 100);

INSERT INTO events SELECT id, TIMESTAMP'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, int(id)) FROM range(100, 200);

INSERT INTO events VALUES (NULL, NULL);

CREATE TABLE days (day TIMESTAMP, id BIGINT, tag STRING) USING iceberg;

INSERT INTO days VALUES (TIMESTAMP'2024-01-06 03:00:00', 123, 'one'), (TIMESTAMP'2024-01-01 05:00:00', 5, 'other'), (NULL, NULL, 'one');

-- query
SELECT e.id, e.at FROM events e JOIN days d ON e.at = d.day WHERE d.tag = 'one';
----
123 | 2024-01-06 03:00:00

-- query
SELECT e.id FROM events e WHERE e.id IN (SELECT id FROM days WHERE tag = 'one');
----
123

-- query
SELECT count(*) FROM events e JOIN days d ON e.id <=> d.id WHERE d.tag = 'one';
----
2

-- query
SELECT count(*) FROM events e JOIN days d ON e.id = d.id WHERE d.tag = 'none';
----
0
