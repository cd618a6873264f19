-- A table of Spark's session catalog is replaced by an Iceberg table that uses the same files.

-- error Only tables of spark_catalog can be migrated
CALL ${catalog}.system.migrate('db.t');

SET spark.sql.catalog.spark_catalog = iceberglite.spark.SparkSessionCatalog;

SET spark.sql.catalog.spark_catalog.type = jdbc;

SET spark.sql.catalog.spark_catalog.uri = jdbc:sqlite:${directory}/session.db;

SET spark.sql.catalog.spark_catalog.warehouse = file://${directory}/session;

DROP DATABASE IF EXISTS spark_catalog.migrated CASCADE;

CREATE DATABASE spark_catalog.migrated LOCATION 'file://${directory}/migrated';

-- Without other arguments, the original table remains with the suffix _BACKUP_.

CREATE TABLE spark_catalog.migrated.t (id INT, name STRING) USING parquet;

INSERT INTO spark_catalog.migrated.t SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b');

-- query
CALL spark_catalog.system.migrate('migrated.t');
----
1

-- error already exists
CALL spark_catalog.system.migrate(table => 'migrated.t_BACKUP_', backup_table_name => 't');

DELETE FROM spark_catalog.migrated.t WHERE id = 1;

-- query rowsort
SELECT id, name, 'new' FROM spark_catalog.migrated.t UNION ALL SELECT id, name, 'old' FROM spark_catalog.migrated.t_BACKUP_;
----
1 | a | old
2 | b | new
2 | b | old

-- error It is an Iceberg table
CALL spark_catalog.system.migrate('migrated.t');

-- The backup can have another name.

CREATE TABLE spark_catalog.migrated.u (id INT, p INT) USING orc PARTITIONED BY (p);

INSERT INTO spark_catalog.migrated.u SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1), (2, 2), (3, 2);

-- query
CALL spark_catalog.system.migrate(table => 'migrated.u', backup_table_name => 'original', properties => map('mine', 'x'), parallelism => 2);
----
2

-- query
SELECT count(*) FROM spark_catalog.migrated.original;
----
3

-- query
SHOW TBLPROPERTIES spark_catalog.migrated.u ('mine');
----
mine | x

-- If the backup is dropped, its files remain, because they belong to the new table.

CREATE TABLE spark_catalog.migrated.v USING parquet AS SELECT /*+ COALESCE(1) */ id FROM range(3);

-- query
CALL spark_catalog.system.migrate(table => 'migrated.v', drop_backup => true);
----
1

-- query
SELECT sum(id) FROM spark_catalog.migrated.v;
----
3

-- query rowsort
SHOW TABLES IN spark_catalog.migrated LIKE 'v*';
----
migrated | v | false

DROP TABLE spark_catalog.migrated.t;

DROP TABLE spark_catalog.migrated.t_BACKUP_;

DROP TABLE spark_catalog.migrated.u;

DROP TABLE spark_catalog.migrated.original;

DROP TABLE spark_catalog.migrated.v;

DROP DATABASE spark_catalog.migrated;
