-- Apache Iceberg's documentation, page spark-writes: INSERT, MERGE, INSERT OVERWRITE, DELETE and UPDATE.

CREATE TABLE ${catalog}.db.table (id bigint, data string, c1 string, c2 string, ts timestamp) USING iceberg;

INSERT INTO ${catalog}.db.table (id, data) VALUES (1, 'a'), (2, 'b');

INSERT INTO ${catalog}.db.table SELECT 3L, 'c', NULL, NULL, TIMESTAMP '2020-05-10 00:00:00';

UPDATE ${catalog}.db.table
SET c1 = 'update_c1', c2 = 'update_c2'
WHERE ts >= '2020-05-01 00:00:00' and ts < '2020-06-01 00:00:00';

-- query
SELECT id, c1 FROM ${catalog}.db.table ORDER BY id;
----
1 | NULL
2 | NULL
3 | update_c1

DELETE FROM ${catalog}.db.table
WHERE ts >= '2020-05-01 00:00:00' and ts < '2020-06-01 00:00:00';

CREATE TABLE ${catalog}.db.all_events (session_time int, ignored boolean) USING iceberg;

INSERT INTO ${catalog}.db.all_events VALUES (1, false), (5, false), (9, false);

CREATE TABLE ${catalog}.db.good_events (session_time int) USING iceberg;

INSERT INTO ${catalog}.db.good_events VALUES (6);

UPDATE ${catalog}.db.all_events
SET session_time = 0, ignored = true
WHERE session_time < (SELECT min(session_time) FROM ${catalog}.db.good_events);

-- query
SELECT * FROM ${catalog}.db.all_events ORDER BY session_time;
----
0 | true
0 | true
9 | false

DELETE FROM ${catalog}.db.all_events
WHERE session_time < (SELECT min(session_time) FROM ${catalog}.db.good_events);

CREATE TABLE ${catalog}.db.orders (oid int, order_status string) USING iceberg;

INSERT INTO ${catalog}.db.orders VALUES (1, 'new'), (2, 'new');

CREATE TABLE ${catalog}.db.returned_orders (oid int) USING iceberg;

INSERT INTO ${catalog}.db.returned_orders VALUES (2);

UPDATE ${catalog}.db.orders AS t1
SET order_status = 'returned'
WHERE EXISTS (SELECT oid FROM ${catalog}.db.returned_orders WHERE t1.oid = oid);

-- query
SELECT * FROM ${catalog}.db.orders ORDER BY oid;
----
1 | new
2 | returned

DELETE FROM ${catalog}.db.orders AS t1
WHERE EXISTS (SELECT oid FROM ${catalog}.db.returned_orders WHERE t1.oid = oid);

CREATE TABLE ${catalog}.db.target (id bigint, count int, status string) USING iceberg;

INSERT INTO ${catalog}.db.target VALUES (1, 5, 'ok'), (2, NULL, 'ok'), (3, 7, 'ok'), (4, 9, 'ok');

MERGE INTO ${catalog}.db.target t
USING (SELECT * FROM VALUES (1L, 'delete'), (2L, 'increment'), (3L, 'increment'), (5L, 'new') AS s(id, op)) s
ON t.id = s.id
WHEN MATCHED AND s.op = 'delete' THEN DELETE
WHEN MATCHED AND t.count IS NULL AND s.op = 'increment' THEN UPDATE SET t.count = 0
WHEN MATCHED AND s.op = 'increment' THEN UPDATE SET t.count = t.count + 1
WHEN NOT MATCHED THEN INSERT (id, count) VALUES (s.id, 1)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET status = 'invalid';

-- query
SELECT * FROM ${catalog}.db.target ORDER BY id;
----
2 | 0 | ok
3 | 8 | ok
4 | 9 | invalid
5 | 1 | NULL

MERGE INTO ${catalog}.db.target t
USING (SELECT * FROM VALUES (5L, 50, 'old'), (6L, 60, 'new') AS s(id, count, status)) s
ON t.id = s.id
WHEN NOT MATCHED THEN INSERT *;

MERGE INTO ${catalog}.db.target t
USING (SELECT *, 10 AS still_valid_threshold FROM VALUES (6L, 20), (7L, 20), (8L, 5) AS s(id, event_time)) s
ON t.id = s.id
WHEN NOT MATCHED AND s.event_time > still_valid_threshold THEN INSERT (id, count) VALUES (s.id, 1);

-- query
SELECT * FROM ${catalog}.db.target ORDER BY id;
----
2 | 0 | ok
3 | 8 | ok
4 | 9 | invalid
5 | 1 | NULL
6 | 60 | new
7 | 1 | NULL

DELETE FROM ${catalog}.db.target WHERE id > 5;

CREATE NAMESPACE ${catalog}.my_app;

CREATE TABLE ${catalog}.my_app.logs (
    uuid string NOT NULL,
    level string NOT NULL,
    ts timestamp NOT NULL,
    message string)
USING iceberg
PARTITIONED BY (level, hours(ts));

INSERT INTO ${catalog}.my_app.logs VALUES
('u', 'INFO', TIMESTAMP '2020-07-01 01:00:00', 'm'), ('u', 'INFO', TIMESTAMP '2020-07-01 02:00:00', 'm');

INSERT OVERWRITE ${catalog}.my_app.logs
PARTITION (level = 'INFO')
SELECT uuid, first(ts), first(message)
FROM ${catalog}.my_app.logs
WHERE level = 'INFO'
GROUP BY uuid;

INSERT OVERWRITE ${catalog}.my_app.logs
SELECT uuid, first(level), first(ts), first(message)
FROM ${catalog}.my_app.logs
WHERE cast(ts as date) = '2020-07-01'
GROUP BY uuid;

-- error too many data columns
INSERT OVERWRITE ${catalog}.my_app.logs
PARTITION (level = 'INFO')
SELECT uuid, first(level), first(ts), first(message)
FROM ${catalog}.my_app.logs
WHERE level = 'INFO'
GROUP BY uuid;

-- query
SELECT uuid, level, message FROM ${catalog}.my_app.logs;
----
u | INFO | m

DROP TABLE ${catalog}.my_app.logs;

DROP NAMESPACE ${catalog}.my_app;

ALTER TABLE ${catalog}.db.target CREATE BRANCH audit;

INSERT INTO ${catalog}.db.target.branch_audit VALUES (1, 1, 'a'), (20, 2, 'b');

MERGE INTO ${catalog}.db.target.branch_audit t
USING (SELECT 20L AS id) s
ON t.id = s.id
WHEN MATCHED THEN UPDATE SET count = 21;

UPDATE ${catalog}.db.target.branch_audit AS t1
SET status = 'c';

DELETE FROM ${catalog}.db.target.branch_audit WHERE id = 2;

-- query
SELECT * FROM ${catalog}.db.target.branch_audit ORDER BY id;
----
1 | 1 | c
3 | 8 | c
4 | 9 | c
5 | 1 | c
20 | 21 | c
