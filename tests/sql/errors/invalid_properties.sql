-- Property values that would make the next read or write fail are rejected when they are set.
CREATE TABLE t (id INT) USING iceberg;

-- error It must be a URI or an absolute path
ALTER TABLE t SET TBLPROPERTIES ('write.data.path'='rel/x');

-- error Name Mapping Serialization
ALTER TABLE t SET TBLPROPERTIES ('schema.name-mapping.default'='{bad');

ALTER TABLE t SET TBLPROPERTIES ('schema.name-mapping.default'='[{"field-id": 1, "names": ["id"]}]');
