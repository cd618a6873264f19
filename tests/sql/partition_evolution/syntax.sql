-- Statements that change partition fields are accepted in all valid forms; invalid forms are rejected with a reason.

CREATE TABLE t (id BIGINT, s STRUCT<a: INT>, `odd.name` STRING, ts TIMESTAMP) USING iceberg;

alter table `t` /* a comment */ add partition field
  s.a -- at the end
;

ALTER TABLE ${catalog}.db.t ADD PARTITION FIELD Bucket(`odd.name`, 4) AS `my field`;

ALTER TABLE t ADD PARTITION FIELD date_hour(ts);

-- error line 1, pos 34
ALTER TABLE t ADD PARTITION FIELD ;

-- error expected the end of the statement
ALTER TABLE t ADD PARTITION FIELD id AS x y;

-- error expected WITH
ALTER TABLE t REPLACE PARTITION FIELD id days(ts);

-- error The supported transforms are
ALTER TABLE t ADD PARTITION FIELD zorder(id);

-- error needs a number
ALTER TABLE t ADD PARTITION FIELD bucket(id);

-- error takes one column
ALTER TABLE t ADD PARTITION FIELD bucket(4);

-- error one positive number
ALTER TABLE t ADD PARTITION FIELD truncate(0, id);
