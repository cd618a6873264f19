-- An existing metadata file is registered as a table.

CREATE TABLE t (id INT) USING iceberg;

-- let empty
SELECT file FROM ${catalog}.db.t.metadata_log_entries;

INSERT INTO t SELECT explode(array(1, 2, 3));

-- let id
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let file
SELECT file FROM ${catalog}.db.t.metadata_log_entries ORDER BY timestamp DESC, latest_sequence_number DESC LIMIT 1;

-- query
CALL ${catalog}.system.register_table('db.again', '${file}');
----
${id} | 3 | 1

-- query
SELECT * FROM again ORDER BY id;
----
1
2
3

-- query
CALL ${catalog}.system.register_table(metadata_file => '${empty}', table => 'db.before');
----
NULL | NULL | NULL

-- error already exists
CALL ${catalog}.system.register_table('db.again', '${file}');

-- error nothing.metadata.json
CALL ${catalog}.system.register_table('db.third', '${directory}/nothing.metadata.json');
