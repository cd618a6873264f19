-- Missing values of generated columns are computed, and given values are checked.

CREATE TABLE t (
  id INT,
  price DECIMAL(9, 2),
  ts TIMESTAMP,
  gross DECIMAL(12, 2) GENERATED ALWAYS AS (CAST(price * 2 AS DECIMAL(12, 2))),
  day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))
) USING iceberg PARTITIONED BY (day);

INSERT INTO t (id, price, ts) VALUES (1, 1.50, TIMESTAMP '2024-05-06 07:08:09'), (2, NULL, NULL);

INSERT INTO t VALUES (3, 3.00, TIMESTAMP '2024-05-07 00:00:00', 6.00, NULL), (4, 4.00, NULL, DEFAULT, DEFAULT);

-- query rowsort
SELECT id, gross, day FROM t;
----
1 | 3.00 | 2024-05-06
2 | NULL | NULL
3 | 6.00 | 2024-05-07
4 | 8.00 | NULL

-- error in the generated column gross that differs from its expression (CAST(price * 2 AS DECIMAL(12, 2))). The row has gross = 7.00, price = 5.00
INSERT INTO t VALUES (5, 5, NULL, 7, NULL);

-- error in the generated column day
UPDATE t SET day = DATE '2024-01-01' WHERE id = 1;

UPDATE t SET ts = TIMESTAMP '2024-06-01 00:00:00', price = price + 1 WHERE id = 1;

MERGE INTO t USING (SELECT 3 AS id, 30 AS price UNION ALL SELECT 6, 60) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET price = s.price
WHEN NOT MATCHED THEN INSERT (id, price) VALUES (s.id, s.price);

-- query rowsort
SELECT id, gross, day FROM t WHERE id IN (1, 3, 6);
----
1 | 5.00 | 2024-06-01
3 | 60.00 | 2024-05-07
6 | 120.00 | NULL

-- query
SHOW TBLPROPERTIES t ('iceberg-lite.generated.day');
----
iceberg-lite.generated.day | CAST(ts AS DATE)

-- error Make it an ordinary column first: ALTER TABLE ${catalog}.db.t UNSET TBLPROPERTIES ('iceberg-lite.generated.gross')
ALTER TABLE t RENAME COLUMN price TO cost;

-- error create a table with the generated column
ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.generated.id' = '1');

ALTER TABLE t RENAME COLUMN gross TO total;

INSERT INTO t (id, price) VALUES (7, 70);

ALTER TABLE t UNSET TBLPROPERTIES ('iceberg-lite.generated.total');

ALTER TABLE t RENAME COLUMN price TO cost;

INSERT INTO t VALUES (8, 1.00, NULL, 99.00, NULL);

-- query rowsort
SELECT id, total FROM t WHERE id > 6;
----
7 | 140.00
8 | 99.00

-- error UNSUPPORTED_EXPRESSION_GENERATED_COLUMN
CREATE TABLE u (id INT, g DOUBLE GENERATED ALWAYS AS (rand())) USING iceberg;

-- error UNSUPPORTED_EXPRESSION_GENERATED_COLUMN
CREATE TABLE u (id INT, g INT GENERATED ALWAYS AS (id), h INT GENERATED ALWAYS AS (g)) USING iceberg;
