-- SHOW CREATE TABLE shows columns, provider, partitioning, comments and location.

CREATE TABLE t (id BIGINT NOT NULL, ts TIMESTAMP COMMENT 'when') USING iceberg
PARTITIONED BY (days(ts), truncate(4, id)) LOCATION 'file://${directory}/warehouse/db/t' COMMENT 'c';

-- let created
SHOW CREATE TABLE t;

-- query
SELECT "${created}" LIKE concat("CREATE TABLE ${catalog}.db.t (\n  id BIGINT NOT NULL,\n  ts TIMESTAMP COMMENT 'when')\n",
  "USING iceberg\nPARTITIONED BY (days(ts), truncate(4, id))\n",
  "COMMENT 'c'\nLOCATION 'file:%${directory}/warehouse/db/t'\nTBLPROPERTIES (%)\n");
----
true

-- DESCRIBE succeeds; its rows are not compared, because they depend on the catalog.
DESCRIBE TABLE EXTENDED t;
