-- Apache Iceberg's documentation, page spark-procedures: imports, metadata files and copies of tables.

CREATE DATABASE spark_catalog.documented;

CREATE TABLE spark_catalog.documented.sample (id bigint, part_col_1 string) USING parquet PARTITIONED BY (part_col_1);

INSERT INTO spark_catalog.documented.sample VALUES (1, 'A'), (2, 'B');

CREATE TABLE spark_catalog.documented.sample_2 USING parquet AS SELECT id FROM spark_catalog.documented.sample;

CALL ${catalog}.system.snapshot('documented.sample', 'db.snap');

-- query
SELECT * FROM ${catalog}.db.snap ORDER BY id;
----
1 | A
2 | B

DROP TABLE ${catalog}.db.snap;

CALL ${catalog}.system.snapshot('documented.sample', 'db.snap', '${directory}/temptable/');

CREATE TABLE ${catalog}.db.tbl (id bigint, part_col_1 string) USING iceberg PARTITIONED BY (part_col_1);

CALL ${catalog}.system.add_files(
  table => 'db.tbl',
  source_table => 'documented.sample',
  partition_filter => map('part_col_1', 'A')
);

-- query
SELECT * FROM ${catalog}.db.tbl;
----
1 | A

INSERT OVERWRITE DIRECTORY '${directory}/path/to/table' USING parquet SELECT 3L AS id;

CREATE TABLE ${catalog}.db.tbl_2 (id bigint) USING iceberg;

CALL ${catalog}.system.add_files(
  table => 'db.tbl_2',
  source_table => '`parquet`.`${directory}/path/to/table`'
);

-- let file
SELECT max_by(file, timestamp) FROM ${catalog}.db.tbl.metadata_log_entries;

CALL ${catalog}.system.register_table(
  table => 'db.tbl_3',
  metadata_file => '${file}'
);

-- query
SELECT * FROM ${catalog}.db.tbl_3;
----
1 | A

CALL spark_catalog.system.migrate('spark_catalog.documented.sample', map('foo', 'bar'));

CALL spark_catalog.system.migrate('documented.sample_2');

-- query
SELECT count(*) FROM spark_catalog.documented.sample JOIN spark_catalog.documented.sample_2 USING (id);
----
2

CREATE TABLE ${catalog}.db.my_table (id bigint) USING iceberg;

INSERT INTO ${catalog}.db.my_table VALUES (1);

INSERT INTO ${catalog}.db.my_table VALUES (2);

-- let source
SELECT regexp_replace(file, '/metadata/.*', '') FROM ${catalog}.db.my_table.metadata_log_entries LIMIT 1;

-- let start
SELECT regexp_replace(min_by(file, timestamp), '.*/', '') FROM ${catalog}.db.my_table.metadata_log_entries;

-- let end
SELECT regexp_replace(max_by(file, timestamp), '.*/', '') FROM ${catalog}.db.my_table.metadata_log_entries;

CALL ${catalog}.system.rewrite_table_path(
    table => 'db.my_table',
    source_prefix => '${source}',
    target_prefix => 's3a://bucket/prefix/db.db/my_table'
);

CALL ${catalog}.system.rewrite_table_path(
    table => 'db.my_table',
    source_prefix => '${source}',
    target_prefix => 's3a://bucketTwo/prefix/db.db/my_table',
    start_version => '${start}',
    end_version => '${end}',
    staging_location => '${directory}/staging/my_table'
);

DROP DATABASE spark_catalog.documented CASCADE;
