-- Namespaces, including nested ones, are created, listed and dropped.

CREATE NAMESPACE a;

CREATE NAMESPACE a.b;

-- error already exists
CREATE NAMESPACE a;

CREATE NAMESPACE IF NOT EXISTS a;

-- query rowsort
SHOW NAMESPACES;
----
a
db

-- query
SHOW NAMESPACES IN a;
----
a.b

CREATE TABLE a.b.t (id INT) USING iceberg;

INSERT INTO a.b.t VALUES (1);

-- query
SELECT * FROM ${catalog}.a.b.t;
----
1

-- query
SHOW TABLES IN a.b;
----
a.b | t | false

-- error SCHEMA_NOT_EMPTY
DROP NAMESPACE a.b;

DROP TABLE a.b.t;

DROP NAMESPACE a.b;

DROP NAMESPACE a;

-- error nothing
DROP NAMESPACE nothing;

DROP NAMESPACE IF EXISTS nothing;

-- error nothing
SHOW TABLES IN nothing;
