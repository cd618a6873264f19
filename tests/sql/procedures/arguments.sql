-- Names of procedures and arguments are case-insensitive. Values are constants or expressions. Errors have a position.

CREATE TABLE t (id INT) USING iceberg;

INSERT INTO t VALUES (1);

-- let id
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

-- query
call ${catalog}.System.Rollback_To_Snapshot(SNAPSHOT_ID => ${id}, Table => 'db.t');
----
${id} | ${id}

-- The procedure and the table may be named without their catalog. A call may contain backticks and comments.
CALL system.rollback_to_snapshot('t', ${id});

CALL `${catalog}`.`system`.`rollback_to_snapshot`(/* which */ 'db' '.t', -- when
  ${id}L);

CALL system.rollback_to_snapshot(concat('${catalog}.', '`db`.t'), CAST('${id}' AS BIGINT));

-- query
CALL system.rollback_to_snapshot('t', (SELECT max(snapshot_id) FROM ${catalog}.db.t.snapshots));
----
${id} | ${id}

-- error there is no procedure cat.system.rollback_to_snapshots; did you mean rollback_to_snapshot?
CALL system.rollback_to_snapshots('t', 1);

-- error The procedures are rollback_to_snapshot, rollback_to_timestamp
CALL system.optimize('t');

-- error call procedures as cat.system.<procedure>
CALL ${catalog}.sys.rollback_to_snapshot('t', 1);

-- error the argument snapshot_id of rollback_to_snapshot is missing. It is called as rollback_to_snapshot(table string, snapshot_id bigint, [branch string])
CALL system.rollback_to_snapshot('t');

-- error It is called as ancestors_of(table string, [snapshot_id bigint], [branch string])
CALL system.ancestors_of();

-- error rollback_to_snapshot takes at most 3 arguments
CALL system.rollback_to_snapshot('t', 1, 'b', 2);

-- error has no argument snapshotid; did you mean snapshot_id?
CALL system.rollback_to_snapshot(table => 't', snapshotid => 1);

-- error the argument table is given twice
CALL system.rollback_to_snapshot(table => 't', TABLE => 't');

-- error all positional or all named
CALL system.rollback_to_snapshot('t', snapshot_id => 1);

-- error all positional or all named
CALL system.rollback_to_snapshot(table => 't', 1);

-- error the value of table must be in quotes: 'db.t'
CALL system.rollback_to_snapshot(db.t, 1);

-- error argument snapshot_id of rollback_to_snapshot: many. It must be BIGINT, not STRING
CALL system.rollback_to_snapshot('t', 'many');

-- error It must be BIGINT, not DECIMAL(2,1)
CALL system.rollback_to_snapshot('t', 1.5);

-- error It must be BIGINT, not MAP<STRING, STRING>
CALL system.rollback_to_snapshot('t', map('a', 'b'));

-- error A value is required
CALL system.rollback_to_snapshot('t', NULL);

-- error expected a value for snapshot_id
CALL system.rollback_to_snapshot('t', );

-- error expected ',' or ')'
CALL system.rollback_to_snapshot('t', 1;

-- error expected '('
CALL system.rollback_to_snapshot;

-- error expected the end of the statement
CALL system.rollback_to_snapshot('t', 1) now;

-- error db.missing
CALL system.rollback_to_snapshot('db.missing', 1);

-- error The table is in the catalog spark_catalog
CALL ${catalog}.system.rollback_to_snapshot('spark_catalog.default.t', 1);

-- error It must be a table name in SQL
CALL system.rollback_to_snapshot('db..t', 1);
