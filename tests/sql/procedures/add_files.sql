-- Files of another table are added without copying them.

INSERT OVERWRITE DIRECTORY '${directory}/plain' USING parquet SELECT 1 AS id, 'a' AS name;

CREATE TABLE t (id INT, name STRING) USING iceberg;

-- query
CALL ${catalog}.system.add_files('db.t', 'parquet.`file:${directory}/plain`');
----
1 | NULL

-- query
SELECT * FROM t;
----
1 | a

-- error already in the table
CALL ${catalog}.system.add_files('db.t', 'parquet.`file:${directory}/plain`');

-- query
CALL ${catalog}.system.add_files(table => 'db.t', source_table => 'parquet.`file:${directory}/plain`', check_duplicate_files => false, parallelism => 2);
----
1 | NULL

INSERT OVERWRITE DIRECTORY '${directory}/wrong' USING parquet SELECT 'text' AS id;

-- error Column id
CALL ${catalog}.system.add_files('db.t', 'parquet.`file:${directory}/wrong`');

-- error There is no such file or directory
CALL ${catalog}.system.add_files('db.t', 'parquet.`file:${directory}/missing`');

-- Partition values are in the names of directories.

INSERT OVERWRITE DIRECTORY '${directory}/days/day=2024-01-01/kind=a%2Fb' USING orc SELECT 1 AS id;

INSERT OVERWRITE DIRECTORY '${directory}/days/day=2024-01-02/kind=__HIVE_DEFAULT_PARTITION__' USING orc SELECT 2 AS id;

CREATE TABLE days (id INT, day DATE, kind STRING) USING iceberg PARTITIONED BY (day, kind);

-- query
CALL ${catalog}.system.add_files('db.days', 'orc.`file:${directory}/days`', map('day', '2024-01-02'));
----
1 | NULL

-- query
CALL ${catalog}.system.add_files('db.days', 'orc.`file:${directory}/days`', map('kind', 'a/b'));
----
1 | NULL

DELETE FROM days WHERE id = 2;

-- query
CALL ${catalog}.system.add_files(table => 'db.days', source_table => 'orc.`file:${directory}/days`', partition_filter => map('day', '2024-01-02'), check_duplicate_files => false);
----
1 | NULL

-- query rowsort
SELECT * FROM days;
----
1 | 2024-01-01 | a/b
2 | 2024-01-02 | NULL

-- error The partition columns of the source are day, kind
CALL ${catalog}.system.add_files('db.days', 'orc.`file:${directory}/days`', map('id', '1'));

-- error Cannot add partitioned files to an unpartitioned table
CALL ${catalog}.system.add_files('db.t', 'orc.`file:${directory}/days`');

-- Tables of the session catalog are sources, too.

DROP TABLE IF EXISTS spark_catalog.default.add_files_source;

CREATE TABLE spark_catalog.default.add_files_source (id INT, name STRING) USING parquet LOCATION '${directory}/source';

INSERT INTO spark_catalog.default.add_files_source VALUES (7, 'g');

-- query
CALL ${catalog}.system.add_files('db.t', 'spark_catalog.default.add_files_source');
----
1 | NULL

-- query
CALL ${catalog}.system.snapshot('spark_catalog.default.add_files_source', 'db.copy');
----
1

-- query
SELECT * FROM copy;
----
7 | g

-- query
CALL ${catalog}.system.snapshot(source_table => 'spark_catalog.default.add_files_source', table => 'db.other', properties => map('a', 'b'), parallelism => 2, ignore_missing_files => true);
----
1

-- error already exists
CALL ${catalog}.system.snapshot('spark_catalog.default.add_files_source', 'db.copy');

-- error Only tables of spark_catalog can be migrated
CALL ${catalog}.system.migrate('db.t');

-- error Only tables of spark_catalog can be migrated
CALL ${catalog}.system.migrate(table => 'db.t', drop_backup => true, backup_table_name => 'old', ignore_missing_files => true);

DROP TABLE spark_catalog.default.add_files_source;

-- query rowsort
SELECT * FROM t;
----
1 | a
1 | a
7 | g
