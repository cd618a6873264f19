-- Files that the metadata does not refer to are deleted if they are old enough.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- query
CALL ${catalog}.system.remove_orphan_files('db.t');
----

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', older_than => TIMESTAMP '2020-01-01 00:00:00', dry_run => true);
----

-- let data
SELECT regexp_replace(file_path, '/[^/]*$', '') FROM ${catalog}.db.t.files;

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', location => '${data}');
----

-- error No files in this directory would be deleted
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', location => '${data}/../../other');

-- error It must be at least 24 hours ago
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', older_than => current_timestamp());

-- error It must be one of ERROR, IGNORE, DELETE
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', prefix_mismatch_mode => 'SKIP');

CREATE TABLE u (id INT) USING iceberg TBLPROPERTIES ('gc.enabled' = 'false');

-- error gc.enabled
CALL ${catalog}.system.remove_orphan_files('db.u');

-- query
SELECT * FROM t;
----
1
