-- CHAR and VARCHAR columns keep their padding and length checks through every change to the table.

CREATE TABLE t (id INT, c CHAR(3), v VARCHAR(4), s STRUCT<v: VARCHAR(2)>) USING iceberg;

-- query
DESCRIBE TABLE t;
----
id | int | NULL
c | char(3) | NULL
v | varchar(4) | NULL
s | struct<v:varchar(2)> | NULL

INSERT INTO t VALUES (1, 'a', 'b', named_struct('v', 'x')), (2, 'abc   ', 'abcd  ', NULL);

-- query
SELECT id, concat('<', c, '>'), concat('<', v, '>'), s.v FROM t ORDER BY id;
----
1 | <a  > | <b> | x
2 | <abc> | <abcd> | NULL

-- error length limitation: 3
INSERT INTO t VALUES (3, 'abcd', 'a', NULL);

-- error length limitation: 4
INSERT INTO t VALUES (3, 'a', 'abcde', NULL);

-- error length limitation: 2
INSERT INTO t VALUES (3, 'a', 'a', named_struct('v', 'abc'));

-- error length limitation: 3
UPDATE t SET c = 'abcd' WHERE id = 1;

UPDATE t SET c = 'x' WHERE c = 'a';

-- error length limitation: 4
MERGE INTO t USING (SELECT 9 AS id, 'abcde' AS v) n ON t.id = n.id
WHEN NOT MATCHED THEN INSERT (id, c, v, s) VALUES (n.id, 'n', n.v, NULL);

MERGE INTO t USING (SELECT 9 AS id, 'n' AS v) n ON t.id = n.id
WHEN NOT MATCHED THEN INSERT (id, c, v, s) VALUES (n.id, n.v, n.v, NULL);

-- query
SELECT id, concat('<', c, '>') FROM t WHERE c IN ('x', 'n') ORDER BY id;
----
1 | <x  >
9 | <n  >

DELETE FROM t WHERE c = 'n';

-- query
SELECT count(*) FROM t;
----
2

ALTER TABLE t RENAME COLUMN v TO w;

ALTER TABLE t ALTER COLUMN w TYPE VARCHAR(6);

ALTER TABLE t ADD COLUMN u CHAR(2);

INSERT INTO t VALUES (4, 'd', 'abcdef', NULL, 'e');

-- error NOT_SUPPORTED_CHANGE_COLUMN
ALTER TABLE t ALTER COLUMN w TYPE VARCHAR(5);

ALTER TABLE t DROP COLUMN c;

ALTER TABLE t ADD COLUMN c STRING;

-- query
DESCRIBE TABLE t;
----
id | int | NULL
w | varchar(6) | NULL
s | struct<v:varchar(2)> | NULL
u | char(2) | NULL
c | string | NULL

INSERT INTO t VALUES (5, 'w', NULL, 'u', 'as long as it likes');

CREATE TABLE copy USING iceberg AS SELECT w, u FROM t;

-- query
DESCRIBE TABLE copy;
----
w | varchar(6) | NULL
u | char(2) | NULL
