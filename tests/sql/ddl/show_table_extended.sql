-- SHOW TABLE EXTENDED shows the tables and views of a namespace with their properties and columns.

CREATE TABLE t (id BIGINT NOT NULL, s STRUCT<x: INT>, p STRING) USING iceberg PARTITIONED BY (p, bucket(4, id))
COMMENT 'a table' TBLPROPERTIES ('team' = 'data');

CREATE TABLE other (id INT) USING iceberg;

-- let t
SHOW TABLE EXTENDED IN ${catalog}.db LIKE 't';

-- query
SELECT regexp_replace(regexp_replace("${t}", "\n(Location|Owner|Table Properties): [^\n]*", ""), "\n", ";");
----
db | t | false | Catalog: ${catalog};Namespace: db;Table: t;Type: MANAGED;Comment: a table;Provider: iceberg;Partition Provider: Catalog;Partition Columns: [`p`, `id_bucket`];Schema: root; |-- id: long (nullable = false); |-- s: struct (nullable = true); |    |-- x: integer (nullable = true); |-- p: string (nullable = true);

-- query
SELECT "${t}" RLIKE "Location: [^\n]*t", "${t}" RLIKE "Table Properties: [^\n]*team=data";
----
true | true

-- let o
SHOW TABLE EXTENDED LIKE 'o*|none';

-- query
SELECT substring_index("${o}", "\n", 3) = "db | other | false | Catalog: ${catalog}\nNamespace: db\nTable: other";
----
true

-- query
SHOW TABLE EXTENDED LIKE 'nothing';
----

-- error Use SHOW PARTITIONS
SHOW TABLE EXTENDED LIKE 't' PARTITION (p = 'a', id_bucket = 1);
