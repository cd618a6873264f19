-- Manifests are combined, with their entries sorted by partition.

CREATE TABLE t (id INT, p INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('commit.manifest-merge.enabled' = 'false');

-- query
CALL ${catalog}.system.rewrite_manifests('db.t');
----
0 | 0

INSERT INTO t VALUES (1, 1);

INSERT INTO t VALUES (2, 2);

INSERT INTO t VALUES (3, 1);

-- query
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', dry_run => true);
----
3 | 1

-- query
SELECT count(*) FROM ${catalog}.db.t.manifests;
----
3

-- query
CALL ${catalog}.system.rewrite_manifests('db.t');
----
3 | 1

-- query
SELECT count(*) FROM ${catalog}.db.t.manifests;
----
1

-- query
SELECT id FROM t ORDER BY id;
----
1
2
3

-- query
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', use_caching => true, spec_id => 0);
----
0 | 0

-- error Partition field not found: q
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', sort_by => array('q'));

-- error Partition spec not found: 7
CALL ${catalog}.system.rewrite_manifests(table => 'db.t', spec_id => 7);
