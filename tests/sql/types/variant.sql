-- A variant (version 3) is JSON text in Spark. A write parses the text.
-- proves: spark/variants-written, spark/variants-as-text

-- error variant
CREATE TABLE old (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '2');

CREATE TABLE t (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3');

INSERT INTO t VALUES (1, ' {"b": [1, 2.50, null], "a": "x"} '), (2, 'null'), (3, NULL), (4, '1e2');

-- query
SELECT id, v FROM t ORDER BY id;
----
1 | {"a":"x","b":[1,2.50,null]}
2 | null
3 | NULL
4 | 100.0

-- error variant in column v
INSERT INTO t VALUES (5, '{"a": 1, "a": 2}');

-- error (at character
INSERT INTO t VALUES (5, '[1,');

ALTER TABLE t ADD COLUMN s STRUCT<v: VARIANT, n: INT>;

UPDATE t SET v = '[true]', s = named_struct('v', '"y"', 'n', 1) WHERE get_json_object(v, '$.a') = 'x';

DELETE FROM t WHERE v = '100.0';

MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 9) u ON t.id = u.id
WHEN MATCHED THEN UPDATE SET t.v = '{}'
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (u.id, '"new"');

-- query
SELECT id, v, s FROM t ORDER BY id;
----
1 | [true] | {"y", 1}
2 | {} | NULL
3 | NULL | NULL
9 | "new" | NULL
