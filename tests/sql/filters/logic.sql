-- Conditions with nulls, NaN, both zeros, IN lists and booleans select the right rows.

CREATE TABLE t (id INT, b BOOLEAN, i INT, x DOUBLE, n STRUCT<f: FLOAT, s: STRING>) USING iceberg
PARTITIONED BY (b, bucket(3, i));

INSERT INTO t VALUES
  (1, true, 1, double('NaN'), named_struct('f', float('NaN'), 's', 'a')),
  (2, false, 2, -0.0d, named_struct('f', -0.0f, 's', 'ab')),
  (3, NULL, NULL, 0.0d, named_struct('f', NULL, 's', NULL)),
  (4, true, 2147483647, double('Infinity'), NULL),
  (5, false, -2147483648, NULL, named_struct('f', 1.5f, 's', ''));

-- query
SELECT id FROM t WHERE b ORDER BY id;
----
1
4

-- query
SELECT id FROM t WHERE NOT b ORDER BY id;
----
2
5

-- query
SELECT id FROM t WHERE b <=> NULL OR coalesce(b, false) ORDER BY id;
----
1
3
4

-- query
SELECT id FROM t WHERE x > 1 ORDER BY id;
----
1
4

-- query
SELECT id FROM t WHERE x = 0.0d AND isnan(x) = false ORDER BY id;
----
2
3

-- query
SELECT id FROM t WHERE x = double('NaN') OR n.f = 0.0f ORDER BY id;
----
1
2

-- query
SELECT id FROM t WHERE i NOT IN (1, NULL);
----

-- query
SELECT id FROM t WHERE i IN (1, NULL, 2147483647) ORDER BY id;
----
1
4

-- query
SELECT id FROM t WHERE CAST(i AS BIGINT) > 2147483646L OR CAST(i AS DOUBLE) < -2147483647.5d ORDER BY id;
----
4
5

-- query
SELECT id FROM t WHERE n.s IS NULL ORDER BY id;
----
3
4

-- query
SELECT id FROM t WHERE NOT (n.s LIKE 'a%') ORDER BY id;
----
5

-- query
SELECT id FROM t WHERE CASE WHEN b THEN x > 1 ELSE n.f IS NOT NULL END ORDER BY id;
----
1
2
4
5
