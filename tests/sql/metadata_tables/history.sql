-- The metadata tables snapshots, history and refs show the commits and the branch main.

CREATE TABLE t (id INT) USING iceberg;

-- query
SELECT count(*) FROM ${catalog}.db.t.snapshots;
----
0

INSERT INTO t VALUES (1), (2);

INSERT INTO t VALUES (3);

-- query
SELECT operation, summary['added-records'], summary['total-records'] FROM ${catalog}.db.t.snapshots ORDER BY committed_at;
----
append | 2 | 2
append | 1 | 3

-- query
SELECT h.is_current_ancestor, s.operation FROM ${catalog}.db.t.history h
JOIN ${catalog}.db.t.snapshots s ON h.snapshot_id = s.snapshot_id WHERE h.parent_id IS NULL;
----
true | append

-- query
SELECT name, type, snapshot_id = (SELECT max_by(snapshot_id, made_current_at) FROM ${catalog}.db.t.history)
FROM ${catalog}.db.t.refs;
----
main | BRANCH | true

-- error did you mean `snapshots`
SELECT * FROM ${catalog}.db.t.snapshotz;
