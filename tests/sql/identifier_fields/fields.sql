-- Identifier fields are set, shown and dropped, including nested ones.

CREATE TABLE t (
  id BIGINT NOT NULL,
  `a.b` STRING NOT NULL,
  maybe INT,
  d DOUBLE NOT NULL,
  s STRUCT<k: INT NOT NULL, other: INT> NOT NULL,
  o STRUCT<k: INT NOT NULL>,
  l ARRAY<STRUCT<k: INT NOT NULL>> NOT NULL
) USING iceberg;

ALTER TABLE t SET IDENTIFIER FIELDS id;

-- query
SHOW TBLPROPERTIES t ('identifier-fields');
----
identifier-fields | [id]

ALTER TABLE t SET IDENTIFIER FIELDS ID, s.k, `a.b`;

-- query
SHOW TBLPROPERTIES t ('identifier-fields');
----
identifier-fields | [id,a.b,s.k]

ALTER TABLE t DROP IDENTIFIER FIELDS s.k, `a.b`;

-- query
SHOW TBLPROPERTIES t ('identifier-fields');
----
identifier-fields | [id]

-- error id is an identifier field
ALTER TABLE t DROP COLUMN id;

-- error It is not an identifier field, so it cannot be dropped
ALTER TABLE t DROP IDENTIFIER FIELDS d;

-- error It is not an identifier field, so it cannot be dropped
ALTER TABLE t DROP IDENTIFIER FIELDS id, id;

-- error nothing
ALTER TABLE t DROP IDENTIFIER FIELDS nothing;

-- error nothing
ALTER TABLE t SET IDENTIFIER FIELDS nothing;

-- error It may be null, but must be NOT NULL
ALTER TABLE t SET IDENTIFIER FIELDS maybe;

-- error but must be primitive and not a float, double or geo type
ALTER TABLE t SET IDENTIFIER FIELDS d;

-- error is inside o, which must be NOT NULL
ALTER TABLE t SET IDENTIFIER FIELDS o.k;

-- error is inside l.element
ALTER TABLE t SET IDENTIFIER FIELDS l.element.k;

-- error It has the type struct
ALTER TABLE t SET IDENTIFIER FIELDS s;

-- error expected a column
ALTER TABLE t SET IDENTIFIER FIELDS;

-- error expected a column
ALTER TABLE t SET IDENTIFIER FIELDS id,;

-- error set the identifier fields with ALTER TABLE ... SET IDENTIFIER FIELDS
ALTER TABLE t SET TBLPROPERTIES ('identifier-fields' = 'id');

ALTER TABLE t DROP IDENTIFIER FIELDS id;

ALTER TABLE t DROP COLUMN id;

-- query
SHOW TBLPROPERTIES t ('identifier-fields');
----
identifier-fields | Table ${catalog}.db.t does not have property: identifier-fields
