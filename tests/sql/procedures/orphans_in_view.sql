-- remove_orphan_files takes the files to check from a view instead of a directory listing.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let orphan
SELECT regexp_replace(file_path, '[^/]+$', 'made-up.parquet') FROM ${catalog}.db.t.files;

CREATE TEMPORARY VIEW listed AS
SELECT file_path, TIMESTAMP '2020-01-01 00:00:00' AS last_modified FROM ${catalog}.db.t.files
UNION ALL SELECT '${orphan}', TIMESTAMP '2020-01-01 00:00:00'
UNION ALL SELECT concat('${orphan}', '.young'), current_timestamp();

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', file_list_view => 'listed', dry_run => true);
----
${orphan} | NULL

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', file_list_view => 'listed', older_than => TIMESTAMP '2019-01-01 00:00:00');
----

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', file_list_view => 'listed', max_concurrent_deletes => 2, stream_results => true, equal_schemes => map('s3a,s3n', 's3'), equal_authorities => map('one,two', 'three'), prefix_mismatch_mode => 'IGNORE');
----
${orphan} | NULL

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', prefix_listing => true);
----

-- query
SELECT * FROM t;
----
1

CREATE TEMPORARY VIEW unlisted AS SELECT '${orphan}' AS path;

-- error It has no column file_path
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', file_list_view => 'unlisted');

-- error TABLE_OR_VIEW_NOT_FOUND
CALL ${catalog}.system.remove_orphan_files(table => 'db.t', file_list_view => 'missing');
