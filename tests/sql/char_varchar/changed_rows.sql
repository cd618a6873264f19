-- DELETE, UPDATE, MERGE and REPLACE WHERE keep the padding and the length checks of CHAR and VARCHAR columns.

CREATE TABLE t (id INT, c CHAR(3), v VARCHAR(5)) USING iceberg;

INSERT INTO t VALUES (1, 'a', 'va'), (2, 'b', 'vb'), (3, 'c', 'vc'), (4, 'd', 'vd');

DELETE FROM t WHERE id = 1;

DELETE FROM t WHERE c = 'b';

UPDATE t SET v = 'new  ' WHERE id = 3;

-- error length limitation: 5
UPDATE t SET v = 'longer' WHERE id = 3;

MERGE INTO t USING (SELECT 4 AS k UNION ALL SELECT 5) s ON t.id = s.k
WHEN MATCHED THEN UPDATE SET v = 'm'
WHEN NOT MATCHED THEN INSERT (id, c, v) VALUES (s.k, 'e', 've');

-- query
SELECT id, concat('<', c, '>'), concat('<', v, '>') FROM t ORDER BY id;
----
3 | <c  > | <new  >
4 | <d  > | <m>
5 | <e  > | <ve>

INSERT INTO t REPLACE WHERE id > 4 SELECT 6, 'f', 'vf';

DELETE FROM t WHERE v = 'm' AND id IN (SELECT 4);

-- query
SELECT id, concat('<', c, '>'), concat('<', v, '>') FROM t ORDER BY id;
----
3 | <c  > | <new  >
6 | <f  > | <vf>
