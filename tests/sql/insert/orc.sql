-- Primitive and nested columns are written to ORC files, also into partitions and by overwrites.

CREATE TABLE t (
  id INT, bo BOOLEAN, l BIGINT, f FLOAT, d DOUBLE, de DECIMAL(38, 10), sm DECIMAL(9, 2),
  da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, b BINARY,
  st STRUCT<a: INT, b: STRUCT<c: STRING>>, li ARRAY<STRUCT<x: INT>>, m MAP<STRING, ARRAY<INT>>, n MAP<INT, STRING>
) USING iceberg TBLPROPERTIES ('write.format.default' = 'orc');

INSERT INTO t VALUES (
  1, true, 9223372036854775807, FLOAT('1.5'), DOUBLE('-0.25'), 1234567890123456789012345678.0123456789BD, -1234567.89BD,
  DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:58.999999', TIMESTAMP_NTZ '2024-02-29 12:00:00.000001', 'ü', X'00FF',
  named_struct('a', 1, 'b', named_struct('c', 'x')), array(named_struct('x', 1), NULL), map('k', array(1, NULL)),
  map(-1, 'v')
);

INSERT INTO t VALUES (
  2, NULL, NULL, FLOAT('NaN'), DOUBLE('-Infinity'), NULL, NULL, NULL, NULL, NULL, '', X'',
  named_struct('a', NULL, 'b', NULL), array(), map(), map()
);

INSERT INTO t (id) VALUES (3);

-- query
SELECT id, bo, l, f, d, de, sm, da, ts, tn, s, hex(b) FROM t ORDER BY id;
----
1 | true | 9223372036854775807 | 1.5 | -0.25 | 1234567890123456789012345678.0123456789 | -1234567.89 | 1969-12-31 | 1969-12-31 23:59:58.999999 | 2024-02-29 12:00:00.000001 | ü | 00FF
2 | NULL | NULL | NaN | -Infinity | NULL | NULL | NULL | NULL | NULL |  | 
3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL

-- query
SELECT id, st, li, m, n FROM t ORDER BY id;
----
1 | {1, {x}} | [{1}, null] | {k -> [1, null]} | {-1 -> v}
2 | {null, null} | [] | {} | {}
3 | NULL | NULL | NULL | NULL

-- query
SELECT id FROM t WHERE da < DATE '1970-01-01' AND f = FLOAT('1.5') AND de > 0 AND st.b.c = 'x';
----
1

-- query
SELECT DISTINCT lower(file_format) FROM ${catalog}.db.t.files;
----
orc

CREATE TABLE p (id BIGINT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts), bucket(2, id))
TBLPROPERTIES ('write.format.default' = 'orc');

INSERT INTO p SELECT id, timestamp_seconds(id * 3600) FROM range(72);

-- query
SELECT CAST(ts AS DATE), count(*) FROM p GROUP BY 1 ORDER BY 1;
----
1970-01-01 | 24
1970-01-02 | 24
1970-01-03 | 24

SET spark.sql.sources.partitionOverwriteMode = dynamic;

INSERT OVERWRITE p SELECT id, ts FROM p WHERE id >= 48 AND id < 50;

-- query
SELECT CAST(ts AS DATE), count(*) FROM p GROUP BY 1 ORDER BY 1;
----
1970-01-01 | 24
1970-01-02 | 24
1970-01-03 | 2

SET spark.sql.sources.partitionOverwriteMode = static;

INSERT OVERWRITE p VALUES (7, TIMESTAMP '2024-01-01 00:00:00');

-- query
SELECT * FROM p;
----
7 | 2024-01-01 00:00:00

CREATE TABLE required (id BIGINT NOT NULL) USING iceberg TBLPROPERTIES ('write.format.default' = 'orc');

-- error is NOT NULL in the table
INSERT INTO required SELECT CAST(NULL AS BIGINT);
