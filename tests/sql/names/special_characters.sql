-- Names of columns can contain dots, blanks and backticks, and names of columns and tables non-ASCII letters.

CREATE TABLE `täble` (`a.b` INT, `with space` STRING, `tick``s` INT, `größe` DOUBLE, `数` STRING) USING iceberg
PARTITIONED BY (`with space`);

INSERT INTO `täble` VALUES (1, 'x y', 2, 3.5, '四');

-- query
SELECT `a.b`, `with space`, `tick``s`, `größe`, `数` FROM `täble` WHERE `a.b` = 1 AND `größe` > 3 AND `with space` = 'x y';
----
1 | x y | 2 | 3.5 | 四

ALTER TABLE `täble` RENAME COLUMN `a.b` TO `c.d`;

ALTER TABLE `täble` ADD COLUMN `a` STRUCT<`b.c`: INT>;

ALTER TABLE `täble` ADD PARTITION FIELD bucket(2, `c.d`);

INSERT INTO `täble` VALUES (2, 'z/=%', 3, NULL, NULL, named_struct('b.c', 7));

-- query
SELECT `c.d`, `with space`, a.`b.c` FROM `täble` ORDER BY `c.d`;
----
1 | x y | NULL
2 | z/=% | 7

DELETE FROM `täble` WHERE `with space` = 'z/=%';

-- query
SELECT count(*) FROM `täble`;
----
1
