-- DROP NAMESPACE CASCADE drops views before the tables that they read.

CREATE NAMESPACE a;

CREATE TABLE a.t (id INT) USING iceberg;

CREATE VIEW a.v AS SELECT id FROM a.t;

CREATE VIEW v AS SELECT id FROM a.v;

DROP NAMESPACE a CASCADE;

-- query
SHOW NAMESPACES LIKE 'a';
----

-- query
SHOW VIEWS;
----
db | v | false

CREATE NAMESPACE a;

-- query
SHOW VIEWS IN a;
----

-- query
SHOW TABLES IN a;
----

DROP VIEW v;
