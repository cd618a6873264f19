-- Spaces are significant in branch names, and a blank is not a valid name.
CREATE TABLE t (id INT) USING iceberg;
INSERT INTO t VALUES (0);
ALTER TABLE t CREATE BRANCH x;
ALTER TABLE t CREATE BRANCH `x `;
INSERT INTO db.t.`branch_x ` VALUES (1);

-- query
SELECT count(*) FROM db.t.branch_x;
----
1

-- query
SELECT count(*) FROM db.t.`branch_x `;
----
2

-- error must not be blank
ALTER TABLE t CREATE BRANCH ` `;
