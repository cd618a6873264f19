-- Apache Iceberg's documentation, page spark-procedures.

CREATE TABLE ${catalog}.db.sample (id bigint, name string, c1 int, c2 int, category string) USING iceberg;

INSERT INTO ${catalog}.db.sample VALUES (1, 'a', 1, 1, 'x');

-- let first
SELECT snapshot_id FROM ${catalog}.db.sample.snapshots;

INSERT INTO ${catalog}.db.sample VALUES (2, 'foo', 2, 2, 'y');

-- let second
SELECT snapshot_id FROM ${catalog}.db.sample.snapshots ORDER BY committed_at DESC LIMIT 1;

-- let secondTime
SELECT committed_at FROM ${catalog}.db.sample.snapshots ORDER BY committed_at DESC LIMIT 1;

ALTER TABLE ${catalog}.db.sample CREATE TAG s1;

CALL ${catalog}.system.rollback_to_snapshot('db.sample', ${first});

CALL ${catalog}.system.set_current_snapshot('db.sample', ${second});

CALL ${catalog}.system.rollback_to_timestamp('db.sample', TIMESTAMP '${secondTime}');

CALL ${catalog}.system.set_current_snapshot(table => 'db.sample', ref => 's1');

-- query
SELECT count(*) FROM ${catalog}.db.sample;
----
2

ALTER TABLE ${catalog}.db.sample SET TBLPROPERTIES ('write.wap.enabled'='true');

SET spark.wap.id = wap_id_1;

INSERT INTO ${catalog}.db.sample VALUES (3, 'c', 3, 3, 'x');

SET spark.wap.id = wap_id_2;

INSERT INTO ${catalog}.db.sample VALUES (4, 'd', 4, 4, 'x');

SET spark.wap.id = wap_id_3;

INSERT INTO ${catalog}.db.sample VALUES (5, 'e', 5, 5, 'x');

SET spark.wap.id = wap_id_4;

INSERT INTO ${catalog}.db.sample VALUES (6, 'f', 6, 6, 'x');

RESET spark.wap.id;

CALL ${catalog}.system.publish_changes('db.sample', 'wap_id_1');

CALL ${catalog}.system.publish_changes(wap_id => 'wap_id_2', table => 'db.sample');

-- let staged
SELECT snapshot_id FROM ${catalog}.db.sample.snapshots WHERE summary['wap.id'] = 'wap_id_3';

CALL ${catalog}.system.cherrypick_snapshot(snapshot_id => ${staged}, table => 'db.sample' );

-- let alsoStaged
SELECT snapshot_id FROM ${catalog}.db.sample.snapshots WHERE summary['wap.id'] = 'wap_id_4';

CALL ${catalog}.system.cherrypick_snapshot('db.sample', ${alsoStaged});

-- query
SELECT count(*) FROM ${catalog}.db.sample;
----
6

CALL ${catalog}.system.ancestors_of('db.sample');

CALL ${catalog}.system.ancestors_of('db.sample', ${first});

CALL ${catalog}.system.ancestors_of(snapshot_id => ${first}, table => 'db.sample');

-- query
CALL ${catalog}.system.create_changelog_view(
  table => 'db.sample',
  options => map('start-snapshot-id','${first}','end-snapshot-id', '${second}'),
  changelog_view => 'tbl_changes'
);
----
tbl_changes

SELECT * FROM tbl_changes;

-- query
SELECT id, _change_type FROM tbl_changes where _change_type = 'INSERT' AND id = 2 ORDER BY _change_ordinal;
----
2 | INSERT

CALL ${catalog}.system.create_changelog_view(
  table => 'db.sample',
  options => map('start-timestamp','1678335750489','end-timestamp', '4678992105265'),
  changelog_view => 'my_changelog_view'
);

CALL ${catalog}.system.create_changelog_view(
  table => 'db.sample',
  options => map('start-snapshot-id','${first}','end-snapshot-id', '${second}'),
  identifier_columns => array('id', 'name')
);

CALL ${catalog}.system.create_changelog_view(
  table => 'db.sample',
  options => map('end-snapshot-id', '${second}'),
  net_changes => true
);

-- query
SELECT count(*) FROM ${catalog}.db.sample.changes;
----
6

CALL ${catalog}.system.rewrite_data_files('db.sample');

CALL ${catalog}.system.rewrite_data_files(table => 'db.sample', strategy => 'sort', sort_order => 'id DESC NULLS LAST,name ASC NULLS FIRST');

CALL ${catalog}.system.rewrite_data_files(table => 'db.sample', strategy => 'sort', sort_order => 'zorder(c1,c2)');

CALL ${catalog}.system.rewrite_data_files(table => 'db.sample', options => map('min-input-files', '2', 'remove-dangling-deletes', 'true'));

CALL ${catalog}.system.rewrite_data_files(table => 'db.sample', where => 'id = 3 and name = "foo"');

CALL ${catalog}.system.rewrite_position_delete_files('db.sample');

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.sample', options => map('rewrite-all', 'true'));

CALL ${catalog}.system.rewrite_position_delete_files(table => 'db.sample', options => map('min-input-files','2'));

CALL ${catalog}.system.rewrite_manifests('db.sample');

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD category;

INSERT INTO ${catalog}.db.sample VALUES (7, 'g', 7, 7, 'z');

CALL ${catalog}.system.rewrite_manifests(table => 'db.sample', spec_id => 1);

CALL ${catalog}.system.rewrite_manifests(table => 'db.sample', sort_by => array('category'));

CALL ${catalog}.system.compute_table_stats('db.sample');

CALL ${catalog}.system.compute_table_stats(table => 'db.sample', snapshot_id => ${first} );

CALL ${catalog}.system.compute_table_stats(table => 'db.sample', snapshot_id => ${first}, columns => array('c1', 'c2'));

CALL ${catalog}.system.compute_partition_stats('db.sample');

CALL ${catalog}.system.compute_partition_stats(table => 'db.sample', snapshot_id => ${first});

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', dry_run => true);

-- let tablelocation
SELECT regexp_replace(file_path, '/data/.*', '') FROM ${catalog}.db.sample.files LIMIT 1;

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', location => '${tablelocation}/data');

CREATE TEMPORARY VIEW files_view AS
SELECT file_path, TIMESTAMP '2020-01-01 00:00:00' AS last_modified FROM ${catalog}.db.sample.files
UNION ALL SELECT '${tablelocation}/data/orphan.parquet', TIMESTAMP '2020-01-01 00:00:00';

-- query
CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', file_list_view => 'files_view');
----
${tablelocation}/data/orphan.parquet | NULL

DROP VIEW files_view;

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', prefix_mismatch_mode => 'IGNORE');

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', prefix_mismatch_mode => 'DELETE');

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', equal_schemes => map('file', 'file1'));

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', equal_authorities => map('ns1', 'ns2'));

CALL ${catalog}.system.remove_orphan_files(table => 'db.sample', prefix_listing => true);

CALL ${catalog}.system.expire_snapshots('db.sample', TIMESTAMP '2021-06-30 00:00:00.000', 100);

CALL ${catalog}.system.expire_snapshots(table => 'db.sample', snapshot_ids => ARRAY(${first}));

-- query
SELECT count(*) FROM ${catalog}.db.sample;
----
7
