-- Fields in structs, lists and maps evolve as well.
-- proves: spark/evolution-by-sql

CREATE TABLE t (
  id INT,
  s STRUCT<a: INT, b: STRING>,
  l ARRAY<STRUCT<x: INT>>,
  m MAP<STRING, STRUCT<y: INT>>
) USING iceberg;

INSERT INTO t VALUES (1, named_struct('a', 1, 'b', 'b'), array(named_struct('x', 1)), map('k', named_struct('y', 1)));

ALTER TABLE t ADD COLUMN s.c DOUBLE FIRST;

ALTER TABLE t ADD COLUMN l.element.z STRING;

ALTER TABLE t ADD COLUMN m.value.w INT;

ALTER TABLE t RENAME COLUMN s.b TO renamed;

ALTER TABLE t ALTER COLUMN s.a TYPE BIGINT;

INSERT INTO t VALUES (
  2,
  named_struct('c', 0.5D, 'a', 2L, 'renamed', 'r'),
  array(named_struct('x', 2, 'z', 'zz')),
  map('k', named_struct('y', 2, 'w', 3))
);

-- query
SELECT * FROM t ORDER BY id;
----
1 | {null, 1, b} | [{1, null}] | {k -> {1, null}}
2 | {0.5, 2, r} | [{2, zz}] | {k -> {2, 3}}

ALTER TABLE t DROP COLUMN s.a;

-- query
SELECT s FROM t WHERE s.renamed = 'b';
----
{null, b}
