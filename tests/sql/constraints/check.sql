-- CHECK constraints are added, enforced by INSERT, UPDATE and MERGE, and dropped.

CREATE TABLE t (id INT, price DECIMAL(9, 2), s STRUCT<x: INT>) USING iceberg;

INSERT INTO t VALUES (1, 1.50, named_struct('x', 1)), (2, NULL, NULL);

-- error A row of ${catalog}.db.t does not satisfy the CHECK constraint cheap (price < 1). The row has price = 1.50
ALTER TABLE t ADD CONSTRAINT cheap CHECK (price < 1);

ALTER TABLE t ADD CONSTRAINT positive CHECK (price > 0);

ALTER TABLE t ADD CONSTRAINT `x range` CHECK (s.x BETWEEN 0 AND 9 OR id IN (100));

-- error Constraint already exists: positive
ALTER TABLE t ADD CONSTRAINT POSITIVE CHECK (id > 0);

-- query
SHOW TBLPROPERTIES t ('iceberg-lite.constraints.positive');
----
iceberg-lite.constraints.positive | price > 0

-- error does not satisfy the CHECK constraint positive (price > 0). The row has price = -1.00
INSERT INTO t VALUES (3, -1, NULL);

-- error does not satisfy the CHECK constraint x range (s.x BETWEEN 0 AND 9 OR id IN (100)). The row has s.x = 10, id = 3
INSERT OVERWRITE t VALUES (3, 1, named_struct('x', 10));

-- error does not satisfy the CHECK constraint positive
UPDATE t SET price = price - 2 WHERE id = 1;

-- error does not satisfy the CHECK constraint positive
MERGE INTO t USING (SELECT 9 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, price) VALUES (s.id, 0);

INSERT INTO t VALUES (100, 0.01, named_struct('x', 10));

-- query
SELECT id FROM t ORDER BY id;
----
1
2
100

-- error ALTER TABLE ${catalog}.db.t DROP CONSTRAINT positive
ALTER TABLE t RENAME COLUMN price TO cost;

-- error It is a CHECK constraint: use ALTER TABLE ... ADD CONSTRAINT
ALTER TABLE t SET TBLPROPERTIES ('iceberg-lite.constraints.other' = 'true');

-- error It must not contain a subquery
ALTER TABLE t ADD CONSTRAINT c CHECK (id IN (SELECT 1));

-- error must depend only on the values of the row
ALTER TABLE t ADD CONSTRAINT c CHECK (rand() < 2);

-- error The constraints are positive, x range
ALTER TABLE t DROP CONSTRAINT c;

ALTER TABLE t DROP CONSTRAINT IF EXISTS c;

ALTER TABLE t DROP CONSTRAINT positive;

ALTER TABLE t RENAME COLUMN price TO cost;

INSERT INTO t VALUES (4, -1, NULL);

-- query
SELECT count(*) FROM t;
----
4
