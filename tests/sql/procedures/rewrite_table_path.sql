-- The paths in copies of a table's metadata are rewritten, and the files to copy are listed.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t SELECT explode(array(1, 2, 3));

DELETE FROM t WHERE id = 2;

-- let location
SELECT regexp_extract(file, '(.*)/metadata/.*', 1) FROM ${catalog}.db.t.metadata_log_entries LIMIT 1;

-- let newest
SELECT regexp_extract(file, '.*/(.*)', 1) FROM ${catalog}.db.t.metadata_log_entries ORDER BY timestamp DESC, latest_sequence_number DESC LIMIT 1;

-- let oldest
SELECT regexp_extract(file, '.*/(.*)', 1) FROM ${catalog}.db.t.metadata_log_entries ORDER BY timestamp, latest_sequence_number LIMIT 1;

CALL ${catalog}.system.rewrite_table_path('db.t', '${location}', '${location}-copy');

CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', staging_location => '${location}-staging');

-- error The directory is not empty
CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', staging_location => '${location}-staging');

-- query
CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', start_version => '${oldest}', create_file_list => false);
----
${newest} | N/A | 3 | 0

-- query
CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', end_version => '${oldest}', create_file_list => false);
----
${oldest} | N/A | 0 | 0

-- error It must differ from source_prefix
CALL ${catalog}.system.rewrite_table_path('db.t', '${location}', '${location}/');

-- error does not begin with the source prefix
CALL ${catalog}.system.rewrite_table_path('db.t', '${location}/data', '${location}-copy');

-- error argument start_version
CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', start_version => 'v99.metadata.json');

-- error It must be an older version
CALL ${catalog}.system.rewrite_table_path(table => 'db.t', source_prefix => '${location}', target_prefix => '${location}-copy', start_version => '${newest}');

-- query
SELECT * FROM t ORDER BY id;
----
1
3
