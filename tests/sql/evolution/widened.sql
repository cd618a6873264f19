-- Types are widened at every level; a date can become a timestamp in version 3; other type changes are rejected.
-- proves: spark/evolution-by-sql

CREATE TABLE t (
  id INT, d DATE, s STRUCT<i: INT, f: FLOAT, in: STRUCT<d: DATE>>, l ARRAY<INT>, m MAP<STRING, DECIMAL(4, 1)>,
  e ARRAY<STRUCT<x: INT>>
) USING iceberg TBLPROPERTIES ('format-version' = '2');

INSERT INTO t VALUES (
  1, DATE '1969-12-31', named_struct('i', 1, 'f', 0.5, 'in', named_struct('d', DATE '2024-02-29')), array(1),
  map('k', 1.5), array(named_struct('x', 1))
);

ALTER TABLE t ALTER COLUMN s.i TYPE BIGINT;

ALTER TABLE t ALTER COLUMN s.f TYPE DOUBLE;

ALTER TABLE t ALTER COLUMN l.element TYPE BIGINT;

ALTER TABLE t ALTER COLUMN m.value TYPE DECIMAL(20, 1);

ALTER TABLE t ALTER COLUMN e.element.x TYPE BIGINT;

-- error Cannot change column d from date to timestamp
ALTER TABLE t ALTER COLUMN d TYPE TIMESTAMP_NTZ;

ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3');

ALTER TABLE t ALTER COLUMN d TYPE TIMESTAMP_NTZ;

ALTER TABLE t ALTER COLUMN s.in.d TYPE TIMESTAMP_NTZ;

-- error NOT_SUPPORTED_CHANGE_COLUMN
ALTER TABLE t ALTER COLUMN s.i TYPE INT;

-- error Cannot change column s.i from long to string
ALTER TABLE t ALTER COLUMN s.i TYPE STRING;

-- query
SELECT * FROM t;
----
1 | 1969-12-31 00:00:00 | {1, 0.5, {2024-02-29 00:00:00}} | [1] | {k -> 1.5} | [{1}]

INSERT INTO t VALUES (
  2, TIMESTAMP_NTZ '1969-12-31 12:00:00', named_struct('i', 5000000000, 'f', 0.1D, 'in', NULL), array(5000000000),
  map('k', 123456789012.5BD), array(named_struct('x', 5000000000))
);

-- query
SELECT id FROM t WHERE d < TIMESTAMP_NTZ '1969-12-31 12:00:00';
----
1

-- query
SELECT id FROM t WHERE d = TIMESTAMP_NTZ '1969-12-31 12:00:00' AND s.i > 1 AND l[0] = 5000000000;
----
2

ALTER TABLE t ALTER COLUMN s.i COMMENT 'wide';

-- error s.missing
ALTER TABLE t RENAME COLUMN s.missing TO x;

-- error `m`.`key`
ALTER TABLE t ALTER COLUMN m.key TYPE BINARY;
