-- Apache Iceberg's documentation, page spark-ddl: views.

CREATE TABLE tableName (id bigint, zip string) USING iceberg;

INSERT INTO tableName VALUES (1, '10115');

CREATE VIEW viewName AS SELECT * FROM tableName;

CREATE VIEW IF NOT EXISTS viewName AS SELECT * FROM tableName;

DROP VIEW viewName;

CREATE VIEW viewName (ID COMMENT 'Unique ID', ZIP COMMENT 'Zipcode')
    COMMENT 'View Comment'
    AS SELECT id, zip FROM tableName;

-- query
SELECT * FROM viewName;
----
1 | 10115

DROP VIEW viewName;

CREATE VIEW viewName
    TBLPROPERTIES ('key1' = 'val1', 'key2' = 'val2')
    AS SELECT * FROM tableName;

-- query
SHOW TBLPROPERTIES viewName ('key1');
----
key1 | val1

-- query rowsort
SHOW TBLPROPERTIES viewName;
----
key1 | val1
key2 | val2

CREATE OR REPLACE VIEW viewName (updated_id COMMENT 'updated ID')
    TBLPROPERTIES ('key1' = 'new_val1')
    AS SELECT id FROM tableName;

ALTER VIEW viewName SET TBLPROPERTIES ('key1' = 'val1', 'key2' = 'val2');

ALTER VIEW viewName UNSET TBLPROPERTIES ('key1', 'key2');

SHOW VIEWS;

SHOW VIEWS IN ${catalog};

SHOW VIEWS IN db;

-- query
SHOW VIEWS IN ${catalog}.db;
----
db | viewName | false

SHOW CREATE TABLE viewName;

DESCRIBE viewName;

DESCRIBE EXTENDED viewName;

DROP VIEW viewName;

CREATE VIEW viewName
    TBLPROPERTIES ('location' = '${directory}/path/to/custom-location')
AS SELECT * FROM tableName;

-- query
SELECT * FROM viewName;
----
1 | 10115

DROP VIEW viewName;

DROP VIEW IF EXISTS viewName;
