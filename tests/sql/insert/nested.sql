-- Structs, lists and maps are written and read.

CREATE TABLE t (
  id INT,
  s STRUCT<a: INT, b: STRUCT<c: STRING>>,
  l ARRAY<STRUCT<x: INT>>,
  m MAP<STRING, ARRAY<INT>>
) USING iceberg;

INSERT INTO t VALUES
  (1, named_struct('a', 1, 'b', named_struct('c', 'x')), array(named_struct('x', 1), NULL), map('k', array(1, 2))),
  (2, NULL, NULL, NULL),
  (3, named_struct('a', NULL, 'b', NULL), array(), map());

-- query
SELECT * FROM t ORDER BY id;
----
1 | {1, {x}} | [{1}, null] | {k -> [1, 2]}
2 | NULL | NULL | NULL
3 | {null, null} | [] | {}

-- query
SELECT id, s.b.c, l[0].x, m['k'][1] FROM t WHERE s.a = 1;
----
1 | x | 1 | 2

-- query
SELECT id FROM t WHERE s IS NULL;
----
2
