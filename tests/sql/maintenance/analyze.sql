-- ANALYZE TABLE computes statistics of columns.

CREATE TABLE t (id INT, name STRING, s STRUCT<x: INT>) USING iceberg;

ANALYZE TABLE t COMPUTE STATISTICS;

INSERT INTO t VALUES (1, 'a', NULL), (2, 'a', NULL);

-- let before
SELECT count(*) FROM ${catalog}.db.t.metadata_log_entries;

ANALYZE TABLE t COMPUTE STATISTICS NOSCAN;

-- query
SELECT count(*) - ${before} FROM ${catalog}.db.t.metadata_log_entries;
----
0

ANALYZE TABLE t COMPUTE STATISTICS;

ANALYZE TABLE ${catalog}.db.t COMPUTE STATISTICS FOR COLUMNS name, id;

ANALYZE TABLE `t` COMPUTE STATISTICS FOR ALL COLUMNS;

-- query
SELECT count(*) - ${before} FROM ${catalog}.db.t.metadata_log_entries;
----
3

-- query
SELECT id, name FROM t ORDER BY id;
----
1 | a
2 | a

-- error Column not found: nam. Did you mean name?
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS nam;

-- error choose other columns
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS s;

-- error near 'PARTITION': statistics are computed for the whole table
ANALYZE TABLE t PARTITION (id = 1) COMPUTE STATISTICS;

-- error near 'PARTITION': statistics are computed for the whole table
ANALYZE TABLE t PARTITION (id = 1) COMPUTE STATISTICS FOR COLUMNS name;

-- error PARSE_SYNTAX_ERROR
ANALYZE TABLE t COMPUTE STATISTIC;

-- error TABLE_OR_VIEW_NOT_FOUND
ANALYZE TABLE missing COMPUTE STATISTICS;
