-- DROP NAMESPACE CASCADE also drops the tables, views and namespaces in the namespace.

CREATE NAMESPACE a;

CREATE NAMESPACE a.b;

CREATE TABLE a.t (id INT) USING iceberg;

CREATE TABLE a.b.t (id INT) USING iceberg;

INSERT INTO a.b.t VALUES (1);

CREATE TABLE t (id INT) USING iceberg;

-- error SCHEMA_NOT_EMPTY
DROP NAMESPACE a;

-- error SCHEMA_NOT_EMPTY
DROP NAMESPACE a RESTRICT;

DROP NAMESPACE a CASCADE;

-- query
SHOW NAMESPACES;
----
db

-- query
SHOW TABLES;
----
db | t | false

-- error TABLE_OR_VIEW_NOT_FOUND
SELECT * FROM a.b.t;

CREATE NAMESPACE a;

-- query
SHOW TABLES IN a;
----

DROP NAMESPACE a CASCADE;

-- error nothing
DROP NAMESPACE nothing CASCADE;

DROP NAMESPACE IF EXISTS nothing CASCADE;
