-- Apache Iceberg's documentation, page spark-ddl: CREATE, REPLACE, DROP and ALTER TABLE.

CREATE TABLE ${catalog}.db.sample (
    id bigint NOT NULL COMMENT 'unique id',
    data string)
USING iceberg;

DROP TABLE ${catalog}.db.sample;

CREATE TABLE ${catalog}.db.sample (
    id bigint,
    data string,
    category string)
USING iceberg
PARTITIONED BY (category);

DROP TABLE ${catalog}.db.sample PURGE;

CREATE TABLE ${catalog}.db.sample (
    id bigint,
    data string,
    category string,
    ts timestamp)
USING iceberg
PARTITIONED BY (bucket(16, id), days(ts), category);

DROP TABLE ${catalog}.db.sample;

CREATE TABLE ${catalog}.db.sample
USING iceberg
AS SELECT 1L AS id, 'a' AS data, 'x' AS part;

REPLACE TABLE ${catalog}.db.sample
USING iceberg
AS SELECT 2L AS id, 'b' AS data, 'y' AS part;

REPLACE TABLE ${catalog}.db.sample
USING iceberg
PARTITIONED BY (part)
TBLPROPERTIES ('key'='value')
AS SELECT 3L AS id, 'c' AS data, 'z' AS part;

CREATE OR REPLACE TABLE ${catalog}.db.sample
USING iceberg
AS SELECT 4L AS id, 'd' AS data, CAST(1.5 AS FLOAT) AS measurement, 'z' AS part;

-- query
SELECT * FROM ${catalog}.db.sample;
----
4 | d | 1.5 | z

DROP TABLE ${catalog}.db.sample;

CREATE TABLE ${catalog}.db.sample
USING iceberg
PARTITIONED BY (part)
TBLPROPERTIES ('key'='value')
AS SELECT 1L AS id, 'a' AS data, CAST(1.5 AS FLOAT) AS measurement, 'x' AS part;

ALTER TABLE ${catalog}.db.sample SET TBLPROPERTIES (
    'read.split.target-size'='268435456'
);

ALTER TABLE ${catalog}.db.sample UNSET TBLPROPERTIES ('read.split.target-size');

ALTER TABLE ${catalog}.db.sample SET TBLPROPERTIES (
    'comment' = 'A table comment.'
);

ALTER TABLE ${catalog}.db.sample SET TBLPROPERTIES (
    'write.spark.accept-any-schema'='true'
);

ALTER TABLE ${catalog}.db.sample
ADD COLUMNS (
    new_column string comment 'new_column docs'
  );

ALTER TABLE ${catalog}.db.sample
ADD COLUMN point struct<x: double, y: double>;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN point.z double;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN points array<struct<x: double, y: double>>;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN points.element.z double;

ALTER TABLE ${catalog}.db.sample DROP COLUMN points;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN points map<struct<x: int>, struct<a: int>>;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN points.value.b int;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN other_column bigint AFTER new_column;

ALTER TABLE ${catalog}.db.sample
ADD COLUMN point.w bigint FIRST;

ALTER TABLE ${catalog}.db.sample RENAME COLUMN data TO payload;

ALTER TABLE ${catalog}.db.sample RENAME COLUMN point.y TO latitude;

ALTER TABLE ${catalog}.db.sample ALTER COLUMN measurement TYPE double;

-- error PARSE_SYNTAX_ERROR
ALTER TABLE ${catalog}.db.sample ALTER COLUMN measurement TYPE double COMMENT 'unit is bytes per second';

ALTER TABLE ${catalog}.db.sample ALTER COLUMN measurement COMMENT 'unit is kilobytes per second';

ALTER TABLE ${catalog}.db.sample ALTER COLUMN measurement FIRST;

ALTER TABLE ${catalog}.db.sample ALTER COLUMN point.x AFTER latitude;

ALTER TABLE ${catalog}.db.sample ALTER COLUMN id DROP NOT NULL;

ALTER TABLE ${catalog}.db.sample DROP COLUMN point.z;

-- query
SELECT * FROM ${catalog}.db.sample;
----
1.5 | 1 | a | x | NULL | NULL | NULL | NULL

ALTER TABLE ${catalog}.db.sample DROP COLUMN id;

ALTER TABLE ${catalog}.db.sample RENAME TO ${catalog}.db.new_name;

-- query
SELECT part FROM ${catalog}.db.new_name;
----
x
