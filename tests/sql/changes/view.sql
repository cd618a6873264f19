-- create_changelog_view creates a view of inserted, deleted and updated rows, without rows that a commit only rewrote.

CREATE TABLE t (id INT, name STRING, tags MAP<STRING, DOUBLE>) USING iceberg TBLPROPERTIES ('format-version' = '2');

INSERT INTO t VALUES (1, 'Alice', NULL), (2, 'Bob', map('a', 0.5));

-- let first
SELECT snapshot_id FROM ${catalog}.db.t.snapshots;

INSERT OVERWRITE t VALUES (2, 'Bob', map('a', 0.5)), (1, 'Alicia', NULL), (3, 'Carol', NULL);

INSERT OVERWRITE t VALUES (2, 'Bob', map('a', 0.5)), (1, 'Alicia', NULL);

-- query
CALL ${catalog}.system.create_changelog_view('db.t');
----
`t_changes`

-- query
SELECT id, name, _change_type, _change_ordinal FROM t_changes ORDER BY _change_ordinal, id, _change_type;
----
1 | Alice | INSERT | 0
2 | Bob | INSERT | 0
1 | Alice | DELETE | 1
1 | Alicia | INSERT | 1
3 | Carol | INSERT | 1
3 | Carol | DELETE | 2

-- query
CALL ${catalog}.system.create_changelog_view(
  table => 'db.t',
  changelog_view => 'updates',
  options => map('start-snapshot-id', '${first}'),
  identifier_columns => array('id')
);
----
updates

-- query
SELECT id, name, _change_type, _change_ordinal FROM updates ORDER BY _change_ordinal, id, _change_type DESC;
----
1 | Alice | UPDATE_BEFORE | 0
1 | Alicia | UPDATE_AFTER | 0
3 | Carol | INSERT | 0
3 | Carol | DELETE | 1

-- query
CALL ${catalog}.system.create_changelog_view(table => 'db.t', changelog_view => 'net', net_changes => true);
----
net

-- query
SELECT id, name, tags, _change_type FROM net ORDER BY id;
----
1 | Alicia | NULL | INSERT
2 | Bob | {a -> 0.5} | INSERT

-- error SET IDENTIFIER FIELDS
CALL ${catalog}.system.create_changelog_view(table => 'db.t', compute_updates => true);

-- error Column not found: nam. The columns are id, name, tags
CALL ${catalog}.system.create_changelog_view(table => 'db.t', identifier_columns => array('nam'));

-- error Net changes have no updates
CALL ${catalog}.system.create_changelog_view(
  table => 'db.t', identifier_columns => array('id'), net_changes => true
);

-- error It must be a single identifier
CALL ${catalog}.system.create_changelog_view('db.t', 'db.changes');
