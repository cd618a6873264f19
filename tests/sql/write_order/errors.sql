-- Invalid WRITE statements are rejected; the table is unchanged.

CREATE TABLE t (id BIGINT, l ARRAY<INT>, s STRUCT<x: INT>) USING iceberg;

ALTER TABLE t WRITE ORDERED BY id;

-- error Column not found: nothing
ALTER TABLE t WRITE ORDERED BY nothing;

-- error only one order clause is allowed; remove the second one
ALTER TABLE t WRITE ORDERED BY id LOCALLY ORDERED BY s.x;

-- error only one order clause is allowed; remove the second one
ALTER TABLE t WRITE UNORDERED ORDERED BY id;

-- error only one distribution clause is allowed; remove the second one
ALTER TABLE t WRITE DISTRIBUTED BY PARTITION DISTRIBUTED BY PARTITION;

-- error expected DISTRIBUTED BY PARTITION, ORDERED BY, LOCALLY ORDERED BY or UNORDERED
ALTER TABLE t WRITE;

-- error expected DISTRIBUTED BY PARTITION, ORDERED BY, LOCALLY ORDERED BY or UNORDERED
ALTER TABLE t WRITE DISTRIBUTED BY id;

-- error expected a column or a transform
ALTER TABLE t WRITE ORDERED BY;

-- error expected ')'
ALTER TABLE t WRITE ORDERED BY (id, s.x;

-- error expected the end of the statement
ALTER TABLE t WRITE ORDERED BY id UP;

-- error Invalid value for transform: zorder(id). The supported transforms are
ALTER TABLE t WRITE ORDERED BY zorder(id);

-- error The transform needs a number
ALTER TABLE t WRITE ORDERED BY bucket(id);

-- error do not support this transform
ALTER TABLE t WRITE ORDERED BY days(id);

-- error It is inside a list
ALTER TABLE t WRITE ORDERED BY l.element;

-- error do not support this transform
ALTER TABLE t WRITE ORDERED BY s;

-- error not found
ALTER TABLE nothing WRITE ORDERED BY id;

-- query
SHOW TBLPROPERTIES t ('sort-order');
----
sort-order | id ASC NULLS FIRST

-- error the table's sort order uses it
ALTER TABLE t DROP COLUMN id;
