-- CLUSTER BY makes rewrite_data_files cluster the rows that are not yet clustered.

CREATE TABLE t (id INT, a INT, b STRING, l ARRAY<INT>) USING iceberg;

INSERT INTO t VALUES (1, 3, 'x', NULL), (2, NULL, 'y', NULL);

INSERT INTO t VALUES (3, 1, NULL, NULL);

ALTER TABLE t CLUSTER BY (a, b);

-- query
SHOW TBLPROPERTIES t ('iceberg-lite.cluster-by');
----
iceberg-lite.cluster-by | 2,3

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '2'));

-- query
SELECT count(*), sum(record_count) FROM ${catalog}.db.t.files;
----
1 | 3

-- query
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '2'));
----
0 | 0 | 0 | 0 | 0 | []

-- query
SELECT summary['iceberg-lite.clustered-by'] FROM ${catalog}.db.t.snapshots WHERE operation = 'replace';
----
2,3

ALTER TABLE t RENAME COLUMN a TO c;

INSERT INTO t VALUES (4, 4, 'z', array(1));

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '2'));

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', sort_order => 'hilbert(id, b)', options => map('rewrite-all', 'true'));

-- query
SELECT id, c, b FROM t ORDER BY id;
----
1 | 3 | x
2 | NULL | y
3 | 1 | NULL
4 | 4 | z

-- query
SELECT count(*) FROM ${catalog}.db.t.files;
----
1

-- error occurs twice
ALTER TABLE t CLUSTER BY (c, c);

-- error Column not found: a
ALTER TABLE t CLUSTER BY (a, b);

-- error have no order
ALTER TABLE t CLUSTER BY (l);

-- error expected NONE or columns in parentheses
ALTER TABLE t CLUSTER BY c;

-- error is not a column
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', sort_order => 'hilbert(id % 2, b)');

ALTER TABLE t DROP COLUMN c;

-- error There is no column with the field id 2
CALL ${catalog}.system.rewrite_data_files(table => 'db.t');

ALTER TABLE t CLUSTER BY NONE;

-- query
CALL ${catalog}.system.rewrite_data_files(table => 'db.t');
----
0 | 0 | 0 | 0 | 0 | []
