-- Geometries (version 3) are WKB in Spark. A write checks the bytes.
-- proves: spark/spatial-columns, spark/spatial-functions

-- error geometry
CREATE TABLE old (id INT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '2');

CREATE TABLE t (id INT, g GEOMETRY('EPSG:3857'), h GEOGRAPHY('OGC:CRS84', 'karney')) USING iceberg
TBLPROPERTIES ('format-version' = '3');

-- query
SELECT hex(${catalog}.system.st_point(1, 2)), ${catalog}.system.st_astext(${catalog}.system.st_box(0, 0, 2, 1));
----
0101000000000000000000F03F0000000000000040 | POLYGON ((0 0, 2 0, 2 1, 0 1, 0 0))

INSERT INTO t SELECT id, ${catalog}.system.st_geomfromtext(wkt), ${catalog}.system.st_point(id, id)
FROM VALUES (1, 'POINT (1 1)'), (2, 'LINESTRING (0 0, 5 5)'), (3, 'POINT EMPTY'), (4, NULL) AS v(id, wkt);

INSERT INTO t VALUES (5, ${catalog}.system.st_point(100, 100), NULL);

-- query
SELECT id, ${catalog}.system.st_astext(g), ${catalog}.system.st_astext(h) FROM t ORDER BY id;
----
1 | POINT (1 1) | POINT (1 1)
2 | LINESTRING (0 0, 5 5) | POINT (2 2)
3 | POINT EMPTY | POINT (3 3)
4 | NULL | POINT (4 4)
5 | POINT (100 100) | NULL

-- query
SELECT id FROM t WHERE ${catalog}.system.st_intersects(g, ${catalog}.system.st_box(3, 3, 4, 9));
----
2

-- query
SELECT id FROM t WHERE NOT ${catalog}.system.st_intersects(g, ${catalog}.system.st_box(3, 3, 4, 9)) ORDER BY id;
----
1
3
5

-- error geometry in column g
INSERT INTO t VALUES (6, X'0101', NULL);

-- error It is EWKB
INSERT INTO t VALUES (6, NULL, X'0101000020E6100000000000000000F03F0000000000000040');

-- error across the antimeridian
SELECT ${catalog}.system.st_box(170, 0, -170, 1);

ALTER TABLE t ADD COLUMN s STRUCT<g: GEOMETRY>;

UPDATE t SET s = named_struct('g', g) WHERE ${catalog}.system.st_intersects(${catalog}.system.st_point(1, 1), g);

-- query
SELECT id, ${catalog}.system.st_astext(s.g) FROM t WHERE s IS NOT NULL ORDER BY id;
----
1 | POINT (1 1)
2 | LINESTRING (0 0, 5 5)

DELETE FROM t WHERE ${catalog}.system.st_intersects(g, ${catalog}.system.st_box(50, 50, 150, 150));

-- query
SELECT count(*) FROM t;
----
4
