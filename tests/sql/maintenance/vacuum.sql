-- VACUUM expires old snapshots, and removes their files and orphan files.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- let file
SELECT file_path FROM ${catalog}.db.t.files;

INSERT OVERWRITE t VALUES (2);

-- query
VACUUM t DRY RUN;
----

-- query
VACUUM t RETAIN 1 HOURS;
----
snapshot | 0 | NULL
branch or tag | 0 | NULL
data file | 0 | NULL
position delete file | 0 | NULL
equality delete file | 0 | NULL
manifest | 0 | NULL
manifest list | 0 | NULL
statistics file | 0 | NULL
orphan file | 0 | NULL

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
2

-- query
VACUUM t RETAIN 0 HOURS;
----
snapshot | 1 | NULL
branch or tag | 0 | NULL
data file | 1 | NULL
position delete file | 0 | NULL
equality delete file | 0 | NULL
manifest | 1 | NULL
manifest list | 1 | NULL
statistics file | 0 | NULL
orphan file | 0 | NULL

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots WHERE snapshot_id = ${first};
----
0

-- query
vacuum ${catalog}.db.t retain 0 hours dry run;
----

-- query
SELECT * FROM t;
----
2

-- error near end of input: expected HOURS
VACUUM t RETAIN 2;

-- error near '-': expected a number of hours
VACUUM t RETAIN -1 HOURS;

-- error near '9999999999': the number is too large
VACUUM t RETAIN 9999999999 HOURS;

-- error near end of input: expected RUN
VACUUM t DRY;

-- error near 'RETAIN': expected the end of the statement
VACUUM t DRY RUN RETAIN 1 HOURS;

-- error TABLE_OR_VIEW_NOT_FOUND
VACUUM missing;

CREATE TABLE kept (id INT) USING iceberg TBLPROPERTIES ('gc.enabled' = 'false');

-- error gc.enabled
VACUUM kept;

-- error gc.enabled
VACUUM kept DRY RUN;
