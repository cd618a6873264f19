"""Real servers on the loopback address, for the tests and for `make stack`: PostgreSQL, REST catalog, Hive, S3."""
