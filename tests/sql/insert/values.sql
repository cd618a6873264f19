-- INSERT matches columns by position, by name or by a list of columns.

CREATE TABLE t (id BIGINT NOT NULL, data STRING, n DECIMAL(9, 2)) USING iceberg;

INSERT INTO t VALUES (1, 'a', 1.5), (2, NULL, NULL);

INSERT INTO t BY NAME SELECT 2.25 AS n, 3L AS id, 'c' AS data;

INSERT INTO t (data, n, id) VALUES ('d', NULL, 4);

-- query
SELECT * FROM t ORDER BY id;
----
1 | a | 1.50
2 | NULL | NULL
3 | c | 2.25
4 | d | NULL

-- error is NOT NULL in the table
INSERT INTO t VALUES (NULL, 'e', 1);

-- query
SELECT count(*) FROM t;
----
4
