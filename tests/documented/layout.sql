-- Apache Iceberg's documentation, page spark-ddl: partition fields, write orders and identifier fields.

CREATE TABLE ${catalog}.db.sample (
    id bigint NOT NULL,
    data string NOT NULL,
    category string,
    catalog string,
    ts timestamp)
USING iceberg
PARTITIONED BY (days(ts));

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD catalog;

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD bucket(16, id);

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD truncate(4, data);

ALTER TABLE ${catalog}.db.sample DROP PARTITION FIELD catalog;

ALTER TABLE ${catalog}.db.sample DROP PARTITION FIELD bucket(16, id);

ALTER TABLE ${catalog}.db.sample DROP PARTITION FIELD truncate(4, data);

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD bucket(16, id) AS shard;

ALTER TABLE ${catalog}.db.sample DROP PARTITION FIELD shard;

ALTER TABLE ${catalog}.db.sample REPLACE PARTITION FIELD ts_day WITH day(ts) AS day_of_ts;

ALTER TABLE ${catalog}.db.sample REPLACE PARTITION FIELD day_of_ts WITH year(ts);

ALTER TABLE ${catalog}.db.sample DROP PARTITION FIELD year(ts);

ALTER TABLE ${catalog}.db.sample ADD PARTITION FIELD year(ts);

ALTER TABLE ${catalog}.db.sample WRITE ORDERED BY category, id;

ALTER TABLE ${catalog}.db.sample WRITE ORDERED BY category ASC, id DESC;

ALTER TABLE ${catalog}.db.sample WRITE ORDERED BY category ASC NULLS LAST, id DESC NULLS FIRST;

ALTER TABLE ${catalog}.db.sample WRITE LOCALLY ORDERED BY category, id;

ALTER TABLE ${catalog}.db.sample WRITE UNORDERED;

ALTER TABLE ${catalog}.db.sample WRITE DISTRIBUTED BY PARTITION;

ALTER TABLE ${catalog}.db.sample WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY category, id;

ALTER TABLE ${catalog}.db.sample SET IDENTIFIER FIELDS id;

ALTER TABLE ${catalog}.db.sample DROP IDENTIFIER FIELDS id;

ALTER TABLE ${catalog}.db.sample SET IDENTIFIER FIELDS id, data;

ALTER TABLE ${catalog}.db.sample DROP IDENTIFIER FIELDS id, data;

CREATE TABLE ${catalog}.db.another_table (id bigint NOT NULL, data string NOT NULL, category string, catalog string, ts timestamp)
USING iceberg;

INSERT INTO ${catalog}.db.another_table VALUES (1, 'a', 'x', 'c', TIMESTAMP '2024-01-01 00:00:00');

INSERT INTO ${catalog}.db.sample
SELECT id, data, category, catalog, ts FROM another_table
ORDER BY ts, category;

-- query
SELECT id, data FROM ${catalog}.db.sample;
----
1 | a

DROP TABLE ${catalog}.db.sample;

CREATE TABLE ${catalog}.db.sample (
    id bigint,
    data string,
    category string,
    ts timestamp)
USING iceberg
PARTITIONED BY (days(ts), category);

INSERT INTO ${catalog}.db.sample
SELECT id, data, category, ts FROM another_table;

INSERT INTO ${catalog}.db.sample
SELECT id, data, category, ts FROM another_table
ORDER BY ts, category;

-- query
SELECT id, data, category FROM ${catalog}.db.sample;
----
1 | a | x
1 | a | x
