-- The current metadata of a table is returned in one row.

CREATE TABLE t (id BIGINT) USING iceberg;

CALL ${catalog}.system.describe_table(table => 'db.t');

-- error nothing
CALL ${catalog}.system.describe_table('db.nothing');
