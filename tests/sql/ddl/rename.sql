-- A table is renamed within its namespace, and moved to another namespace.

CREATE TABLE t (id BIGINT) USING iceberg;

INSERT INTO t VALUES (1);

ALTER TABLE t RENAME TO u;

-- query
SELECT * FROM u;
----
1

-- error cannot be found
SELECT * FROM t;

CREATE NAMESPACE ${catalog}.other;

ALTER TABLE u RENAME TO other.v;

INSERT INTO other.v VALUES (2);

-- query rowsort
SELECT * FROM other.v;
----
1
2

CREATE TABLE other.w (id BIGINT) USING iceberg;

-- error exists
ALTER TABLE other.v RENAME TO other.w;
