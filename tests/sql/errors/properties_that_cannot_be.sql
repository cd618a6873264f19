-- What would only be noticed by the next read or write is refused when it is set.
CREATE TABLE t (id INT) USING iceberg;

-- error It must be a URI or an absolute path
ALTER TABLE t SET TBLPROPERTIES ('write.data.path'='rel/x');

-- error Name Mapping Serialization
ALTER TABLE t SET TBLPROPERTIES ('schema.name-mapping.default'='{bad');

ALTER TABLE t SET TBLPROPERTIES ('schema.name-mapping.default'='[{"field-id": 1, "names": ["id"]}]');
