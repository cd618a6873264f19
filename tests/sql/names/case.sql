-- Names are case-insensitive unless the session is case-sensitive.

CREATE TABLE t (Id INT, Data STRING) USING iceberg PARTITIONED BY (DATA);

INSERT INTO t VALUES (1, 'a');

-- query
SELECT ID, data FROM t WHERE id = 1 AND DATA = 'a';
----
1 | a

ALTER TABLE t RENAME COLUMN ID TO key;

SET spark.sql.caseSensitive = true;

-- error KEY
SELECT KEY FROM t;

ALTER TABLE t ADD COLUMN KEY STRING;

INSERT INTO t VALUES (2, 'b', 'upper');

-- query
SELECT key, KEY FROM t ORDER BY key;
----
1 | NULL
2 | upper

-- error Column not found
ALTER TABLE t ADD PARTITION FIELD bucket(2, Key);
