-- Every statement that changes rows can change a branch by its name; the table itself is unchanged.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (4, 'd');

INSERT INTO db.t.branch_work (p, id) VALUES ('e', 5);

-- query
SELECT id FROM db.t.branch_work ORDER BY id;
----
1
2
3
4
5

DELETE FROM db.t.branch_work WHERE p = 'a';

INSERT OVERWRITE db.t.branch_work PARTITION (p = 'b') SELECT 20;

SET spark.sql.sources.partitionOverwriteMode = dynamic;

INSERT OVERWRITE db.t.branch_work VALUES (30, 'c');

RESET spark.sql.sources.partitionOverwriteMode;

-- query
SELECT * FROM t VERSION AS OF 'work' ORDER BY id;
----
4 | d
5 | e
20 | b
30 | c

-- query
SELECT * FROM t ORDER BY id;
----
1 | a
2 | b
3 | c

-- query
SELECT partition.p, record_count FROM db.t.branch_work.files ORDER BY partition.p;
----
b | 1
c | 1
d | 1
e | 1

-- query
SELECT count(*) FROM db.t.branch_work AS b JOIN t ON b.p = t.p;
----
2

TRUNCATE TABLE db.t.branch_work;

-- query
SELECT count(*) FROM db.t.branch_work;
----
0

-- query
SELECT count(*) FROM t;
----
3

-- branch_main is the table itself.
INSERT INTO db.t.branch_main VALUES (9, 'z');

-- query
SELECT count(*) FROM t;
----
4
