-- Several changes of a table are one commit, or none of them is made.

CREATE TABLE t (id BIGINT NOT NULL, n INT, old STRING, ts TIMESTAMP) USING iceberg;

INSERT INTO t VALUES (1, 10, 'x', TIMESTAMP '2026-01-01 10:00:00');

-- query
SELECT count(*) FROM db.t.metadata_log_entries;
----
2

-- query
CALL ${catalog}.system.alter_table(table => 'db.t', changes => array(
  "ADD COLUMN city STRING COMMENT 'name of the city' AFTER id",
  'RENAME COLUMN n TO amount',
  'ALTER COLUMN amount TYPE BIGINT',
  'DROP COLUMN old',
  'ADD PARTITION FIELD days(ts)',
  'ADD PARTITION FIELD city AS place',
  'WRITE ORDERED BY amount DESC',
  'SET IDENTIFIER FIELDS id',
  "SET TBLPROPERTIES ('team' = 'data')"
));
----
2 | 2 | 1

-- query
SELECT count(*) FROM db.t.metadata_log_entries;
----
3

INSERT INTO t VALUES (2, 'Rome', 3000000000, TIMESTAMP '2026-01-02 10:00:00');

-- query
SELECT id, city, amount FROM t ORDER BY id;
----
1 | NULL | 10
2 | Rome | 3000000000

-- query
SELECT partition.place, CAST(partition.ts_day AS STRING) FROM db.t.files WHERE spec_id = 2;
----
Rome | 2026-01-02

-- query
SHOW TBLPROPERTIES t ('team');
----
team | data

-- error nowhere
CALL ${catalog}.system.alter_table('db.t', array('ADD COLUMN extra INT', 'DROP COLUMN nowhere'));

-- error cannot be combined with other changes
CALL ${catalog}.system.alter_table('db.t', array('ADD COLUMN extra INT', 'RENAME TO db.other'));

-- error current-snapshot-id
CALL ${catalog}.system.alter_table('db.t', array("SET TBLPROPERTIES ('current-snapshot-id' = '1')"));

-- error at least one change
CALL ${catalog}.system.alter_table('db.t', array());

-- query
SELECT count(*) FROM db.t.metadata_log_entries;
----
4

-- query
SELECT * FROM t WHERE id = 1;
----
1 | NULL | 10 | 2026-01-01 10:00:00
