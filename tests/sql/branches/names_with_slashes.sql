-- A branch name may contain slashes, although the name of a table must not contain them in every catalog.
CREATE TABLE t (id INT) USING iceberg;
INSERT INTO t VALUES (0);
ALTER TABLE t CREATE BRANCH `team/a`;
INSERT INTO db.t.`branch_team/a` VALUES (1);
DELETE FROM db.t.`branch_team/a` WHERE id = 0;
ALTER TABLE t CREATE TAG `v/1`;

-- query
SELECT id FROM db.t.`branch_team/a`;
----
1

-- query
SELECT id FROM db.t.`tag_v/1`;
----
0

-- query
SELECT id FROM db.t VERSION AS OF 'team/a';
----
1

-- query
SELECT count(*) FROM db.t.`branch_team/a`.files;
----
1

-- error Branch not found: team/b
SELECT * FROM db.t.`branch_team/b`;
