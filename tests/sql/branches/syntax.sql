-- A syntax error in a statement about branches is reported with its position.

CREATE TABLE t (id INT) USING iceberg;

-- error near end of input: expected the name of a branch
ALTER TABLE t CREATE BRANCH;

-- error near 'nr': expected the end of the statement
ALTER TABLE t CREATE BRANCH b nr 1;

-- error near 'MONTHS': expected DAYS, HOURS or MINUTES
ALTER TABLE t CREATE BRANCH b RETAIN 2 MONTHS;

-- error expected SNAPSHOTS, DAYS, HOURS or MINUTES
ALTER TABLE t CREATE BRANCH b WITH SNAPSHOT RETENTION 2;

-- error expected the id of a snapshot
ALTER TABLE t CREATE BRANCH b AS OF VERSION 'x';

-- error near 'WITH': expected the end of the statement
ALTER TABLE t CREATE TAG v WITH SNAPSHOT RETENTION 2 SNAPSHOTS;

-- error near 'IF': expected the end of the statement
ALTER TABLE t REPLACE BRANCH b IF EXISTS;

-- error the number is too large
ALTER TABLE t CREATE BRANCH b WITH SNAPSHOT RETENTION 3000000000 SNAPSHOTS;

-- error the number is too large
ALTER TABLE t CREATE BRANCH b AS OF VERSION 99999999999999999999;
