-- The metadata table changes contains the rows that each commit inserted or deleted.

CREATE TABLE t (id INT, category STRING) USING iceberg PARTITIONED BY (category);

-- query
SELECT * FROM ${catalog}.db.t.changes;
----

INSERT INTO t VALUES (1, 'a'), (2, 'b');

INSERT INTO t VALUES (3, 'a');

DELETE FROM t WHERE category = 'a';

INSERT OVERWRITE t VALUES (4, 'c');

-- query
SELECT id, category, _change_type, _change_ordinal FROM ${catalog}.db.t.changes ORDER BY _change_ordinal, id;
----
1 | a | INSERT | 0
2 | b | INSERT | 0
3 | a | INSERT | 1
1 | a | DELETE | 2
3 | a | DELETE | 2
2 | b | DELETE | 3
4 | c | INSERT | 3

-- query
SELECT c.id, s.operation FROM ${catalog}.db.t.changes c
JOIN ${catalog}.db.t.snapshots s ON c._commit_snapshot_id = s.snapshot_id WHERE c._change_type = 'DELETE' ORDER BY c.id;
----
1 | delete
2 | overwrite
3 | delete

-- query
SELECT _change_type, count(*) FROM ${catalog}.db.t.changes GROUP BY 1 ORDER BY 1;
----
DELETE | 3
INSERT | 4

-- let second
SELECT snapshot_id FROM ${catalog}.db.t.snapshots ORDER BY committed_at LIMIT 1 OFFSET 1;

-- query
SELECT id FROM ${catalog}.db.t.changes WHERE _commit_snapshot_id = ${second};
----
3

-- query
SELECT sum(CASE _change_type WHEN 'INSERT' THEN 1 ELSE -1 END) FROM ${catalog}.db.t.changes VERSION AS OF ${second};
----
3

-- query
SELECT id, _partition.category FROM ${catalog}.db.t.changes WHERE id = 4;
----
4 | c

-- error did you mean `changes`
SELECT * FROM ${catalog}.db.t.chnages;
