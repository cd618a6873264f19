-- The metadata table manifests shows the manifests of a snapshot with the partition values of each.

CREATE TABLE t (id INT, p STRING) USING iceberg PARTITIONED BY (p);

INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b');

-- query
SELECT content, added_data_files_count, partition_summaries[0].lower_bound, partition_summaries[0].upper_bound
FROM ${catalog}.db.t.manifests;
----
0 | 2 | a | b

ALTER TABLE t CREATE BRANCH work;

INSERT INTO ${catalog}.db.t.branch_work VALUES (4, NULL);

-- query
SELECT partition_summaries[0].contains_null, partition_summaries[0].lower_bound
FROM ${catalog}.db.t.branch_work.manifests ORDER BY 1;
----
false | a
true | null

-- query
SELECT count(*) FROM ${catalog}.db.t.manifests;
----
1
