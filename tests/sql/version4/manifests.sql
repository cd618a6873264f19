-- The metadata table manifests of a table of format version 4 shows the root and its leaves.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '4');

INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b');

-- query
SELECT level, content, added_data_files_count, existing_data_files_count, deleted_data_files_count
FROM ${catalog}.db.t.manifests;
----
0 | 2 | 2 | 0 | 0

DELETE FROM t WHERE p = 'b';

INSERT INTO t VALUES (4, 'c');

-- query
SELECT level, content, added_data_files_count, existing_data_files_count, deleted_data_files_count
FROM ${catalog}.db.t.manifests;
----
0 | 2 | 1 | 1 | 0

ALTER TABLE t SET TBLPROPERTIES ('write.v4.single-commit-max-files' = '1');

INSERT INTO t VALUES (5, 'd'), (6, 'e');

-- query
SELECT level, content, added_data_files_count, existing_data_files_count, partition_summaries[0].lower_bound,
partition_summaries[0].upper_bound FROM ${catalog}.db.t.manifests ORDER BY level;
----
0 | 2 | 0 | 2 | NULL | NULL
1 | 0 | 2 | 0 | d | e

-- error write.v4.root.max-data-files
ALTER TABLE t SET TBLPROPERTIES ('write.v4.root.max-data-files' = '0');

-- error write.v4.root.max-bytes
ALTER TABLE t SET TBLPROPERTIES ('write.v4.root.max-bytes' = 'many');
