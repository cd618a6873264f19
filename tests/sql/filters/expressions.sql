-- Conditions on expressions over columns return the rows that Spark finds without partition pruning.

SET TIME ZONE 'America/New_York';

CREATE TABLE t (id INT, ts TIMESTAMP, ntz TIMESTAMP_NTZ, d DATE, s STRING) USING iceberg
PARTITIONED BY (days(ts), truncate(2, s));

INSERT INTO t VALUES
  (1, TIMESTAMP '2013-03-10 01:59:59', TIMESTAMP_NTZ '2013-03-10 01:59:59', DATE '2013-03-10', 'abc'),
  (2, TIMESTAMP '2013-03-10 03:00:00', TIMESTAMP_NTZ '2013-03-10 02:30:00', DATE '2013-03-31', 'ab'),
  (3, TIMESTAMP '2013-11-03 05:30:00Z', TIMESTAMP_NTZ '2013-11-03 01:30:00', DATE '2013-11-03', 'a'),
  (4, TIMESTAMP '2013-11-03 06:30:00Z', TIMESTAMP_NTZ '2013-11-03 01:30:00', DATE '2013-11-30', ''),
  (5, TIMESTAMP '2013-12-31 23:59:59', TIMESTAMP_NTZ '2013-12-31 23:59:59', DATE '2013-12-31', 'b%c'),
  (6, TIMESTAMP '2014-01-01 00:00:00', TIMESTAMP_NTZ '2014-01-01 00:00:00', DATE '2014-01-01', '😀x'),
  (7, TIMESTAMP '1969-12-31 23:59:59', TIMESTAMP_NTZ '1969-12-31 23:59:59', DATE '1969-12-31', 'ab😀'),
  (8, NULL, NULL, NULL, NULL);

-- query
SELECT id FROM t WHERE CAST(ts AS DATE) = DATE '2013-03-10' ORDER BY id;
----
1
2

-- query
SELECT id FROM t WHERE date_trunc('day', ts) = TIMESTAMP '2013-11-03' ORDER BY id;
----
3
4

-- query
SELECT id FROM t WHERE date_trunc('hour', ts) = TIMESTAMP '2013-11-03 01:00:00' ORDER BY id;
----
3

-- query
SELECT id FROM t WHERE date_trunc('year', ts) < TIMESTAMP '2014-01-01' ORDER BY id;
----
1
2
3
4
5
7

-- query
SELECT id FROM t WHERE year(ts) = 2014 OR year(ntz) IN (1969, 1970) ORDER BY id;
----
6
7

-- query
SELECT id FROM t WHERE NOT (year(ts) = 2013) ORDER BY id;
----
6
7

-- query
SELECT id FROM t WHERE date_trunc('month', ntz) >= TIMESTAMP '2013-12-01' ORDER BY id;
----
5
6

-- query
SELECT id FROM t WHERE trunc(d, 'MM') = DATE '2013-11-01' AND last_day(d) <> DATE '2013-12-31' ORDER BY id;
----
3
4

-- query
SELECT id FROM t WHERE year(ts) <=> NULL;
----
8

-- query
SELECT id FROM t WHERE left(s, 2) = 'ab' ORDER BY id;
----
1
2
7

-- query
SELECT id FROM t WHERE substring(s, 1, 3) IN ('ab', '😀x') ORDER BY id;
----
2
6

-- query
SELECT id FROM t WHERE s LIKE 'b\\%%' OR left(s, 1) <> 'a' ORDER BY id;
----
4
5
6

-- query
SELECT id FROM t WHERE contains(s, '😀') OR endswith(s, 'c') ORDER BY id;
----
1
5
6
7
