-- Files of other sources are read by path, even in a session with an iceberg-lite catalog.
CREATE TABLE t (id INT) USING iceberg;
INSERT OVERWRITE DIRECTORY '${directory}/out' USING parquet SELECT 1 AS id;

-- query
SELECT id FROM parquet.`${directory}/out`;
----
1

-- let file
SELECT input_file_name() FROM parquet.`${directory}/out`;

-- query
SELECT id FROM parquet.`${file}`;
----
1

-- error /nowhere
SELECT * FROM parquet.`${directory}/nowhere`;
