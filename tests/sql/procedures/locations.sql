-- A clone and a snapshot of another table are created at the given locations.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

CALL ${catalog}.system.clone(source_table => 'db.t', table => 'db.c', location => 'file://${directory}/cloned');

INSERT INTO c VALUES (2);

-- query
SELECT count(*) FROM ${catalog}.db.c.files WHERE file_path LIKE '%${directory}/cloned/%';
----
1

-- query
SELECT * FROM c ORDER BY id;
----
1
2

CREATE TABLE spark_catalog.default.locations_source (id INT) USING parquet LOCATION '${directory}/source';

INSERT INTO spark_catalog.default.locations_source VALUES (3);

CALL ${catalog}.system.snapshot(source_table => 'spark_catalog.default.locations_source', table => 'db.s', location => 'file://${directory}/imported');

INSERT INTO s VALUES (4);

-- query
SELECT count(*) FROM ${catalog}.db.s.files WHERE file_path LIKE '%${directory}/imported/%';
----
1

-- query
SELECT * FROM s ORDER BY id;
----
3
4

DROP TABLE spark_catalog.default.locations_source;
