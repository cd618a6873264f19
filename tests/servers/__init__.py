"""Real servers on loopback, for the tests and for `make stack`: PostgreSQL, a REST catalog, a Hive Metastore, S3."""
