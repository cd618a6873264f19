-- SHOW CREATE TABLE with provider, partitioning and comments.

CREATE TABLE t (id BIGINT NOT NULL, ts TIMESTAMP COMMENT 'when') USING iceberg
PARTITIONED BY (days(ts), truncate(4, id)) LOCATION 'file://${directory}/warehouse/db/t' COMMENT 'c';

SHOW CREATE TABLE t;

DESCRIBE TABLE EXTENDED t;
