-- An upsert replaces rows with the same keys by equality deletes, which are then converted to deletion vectors.

CREATE TABLE t (id INT NOT NULL, day DATE, v STRING) USING iceberg PARTITIONED BY (day)
TBLPROPERTIES ('format-version' = '3');

INSERT INTO t VALUES (1, DATE '2024-02-28', 'a'), (2, DATE '2024-02-28', 'b'), (3, DATE '2024-02-29', 'c');

-- error has no identifier fields
INSERT INTO t WITH ('upsert' = 'true') VALUES (2, DATE '2024-03-01', 'x');

ALTER TABLE t SET IDENTIFIER FIELDS id;

INSERT INTO t WITH ('upsert' = 'true') VALUES (2, DATE '2024-03-01', 'x'), (4, DATE '2024-03-01', 'y');

-- query
SELECT * FROM t ORDER BY id;
----
1 | 2024-02-28 | a
2 | 2024-03-01 | x
3 | 2024-02-29 | c
4 | 2024-03-01 | y

-- error two of the rows have the key id = 5
INSERT INTO t WITH ('upsert-keys' = 'id') VALUES (5, DATE '2024-03-01', 'x'), (5, DATE '2024-03-02', 'y');

-- query
SELECT content, file_format, record_count FROM db.t.delete_files;
----
2 | PARQUET | 2

-- query
CALL ${catalog}.system.convert_equality_deletes('db.t');
----
1 | 1 | 1

-- query
SELECT content, file_format, record_count FROM db.t.delete_files;
----
1 | PUFFIN | 1

-- query
SELECT * FROM t ORDER BY id;
----
1 | 2024-02-28 | a
2 | 2024-03-01 | x
3 | 2024-02-29 | c
4 | 2024-03-01 | y

-- query
CALL ${catalog}.system.convert_equality_deletes('db.t');
----
0 | 0 | 0

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work WITH ('upsert' = 'true') VALUES (3, DATE '2024-02-29', 'z');

-- query
CALL ${catalog}.system.convert_equality_deletes(table => 'db.t', branch => 'work');
----
1 | 1 | 1

-- query
SELECT v FROM ${catalog}.db.t VERSION AS OF 'work' WHERE id = 3;
----
z

-- query
SELECT v FROM t WHERE id = 3;
----
c
