-- Namespaces have properties if the catalog supports them.

CREATE NAMESPACE n COMMENT 'about' WITH PROPERTIES ('k' = 'v');

ALTER NAMESPACE n SET PROPERTIES ('k' = 'w', 'l' = 'x');

-- query
DESCRIBE NAMESPACE EXTENDED n;
----
Catalog Name | ${catalog}
Namespace Name | n
Comment | about
Location | file://${directory}/warehouse/n
Owner | ${user}
Properties | ((k,w), (l,x))

DROP NAMESPACE n;
