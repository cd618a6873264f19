-- Tables with the same buckets are joined partition by partition. Every row is returned once, even if one of the tables
-- lacks a partition.
CREATE TABLE orders (id BIGINT, day DATE) USING iceberg PARTITIONED BY (bucket(4, id), day);

CREATE TABLE lines (order_id BIGINT, price INT) USING iceberg PARTITIONED BY (bucket(4, order_id));

INSERT INTO orders VALUES (1, DATE'2024-01-01'), (2, DATE'2024-01-02'), (3, DATE'2024-01-01'), (NULL, NULL);

INSERT INTO lines VALUES (2, 20), (2, 21), (3, 30), (7, 70), (NULL, 1);

SET spark.sql.autoBroadcastJoinThreshold = -1;

-- query rowsort
SELECT id, day, price FROM orders JOIN lines ON id = order_id;
----
2 | 2024-01-02 | 20
2 | 2024-01-02 | 21
3 | 2024-01-01 | 30

-- query rowsort
SELECT id, order_id, price FROM orders FULL JOIN lines ON id = order_id;
----
1 | NULL | NULL
2 | 2 | 20
2 | 2 | 21
3 | 3 | 30
NULL | 7 | 70
NULL | NULL | 1
NULL | NULL | NULL

-- query rowsort
SELECT id FROM orders LEFT ANTI JOIN lines ON id = order_id;
----
1
NULL

-- query
SELECT count(*) FROM (SELECT id, count(*) AS n FROM orders JOIN lines ON id = order_id GROUP BY id);
----
2

ALTER TABLE lines ADD PARTITION FIELD truncate(10, price);

INSERT INTO lines VALUES (1, 15), (3, 35);

-- query rowsort
SELECT id, sum(price) FROM orders JOIN lines ON id = order_id GROUP BY id;
----
1 | 15
2 | 41
3 | 65
