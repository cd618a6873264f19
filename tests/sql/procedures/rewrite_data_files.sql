-- Small files of a partition are combined without their deleted rows.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p)
TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read');

INSERT INTO t VALUES (1, 1);

INSERT INTO t VALUES (2, 1), (4, 1);

INSERT INTO t VALUES (3, 2);

DELETE FROM t WHERE id = 4;

-- let ids
SELECT concat_ws(' ', sort_array(collect_list(concat(id, '=', _row_id)))) FROM t;

-- query
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '3'), where => 'p = 2');
----
0 | 0 | 0 | 0 | 0 | []

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '2'));

-- query
SELECT partition.p, record_count FROM ${catalog}.db.t.files ORDER BY 1;
----
1 | 2
2 | 1

-- query
SELECT id, p FROM t ORDER BY id;
----
1 | 1
2 | 1
3 | 2

-- query
SELECT concat_ws(' ', sort_array(collect_list(concat(id, '=', _row_id)))) FROM t;
----
${ids}

CALL ${catalog}.system.rewrite_data_files(table => 'db.t', sort_order => 'zorder(id, p)', options => map('rewrite-all', 'true'));

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- error rewrite-all
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-al', 'true'));

-- error It must be one of binpack, sort
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', strategy => 'cluster');

-- error No part of it can be evaluated on files
CALL ${catalog}.system.rewrite_data_files(table => 'db.t', where => 'hash(id) = 5');
