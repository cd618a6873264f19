"""Servers on the loopback address, for the tests and for `make stack`.

They are PostgreSQL, the REST server of Apache Iceberg's tests, a Hive Metastore, and moto in place of S3. `make stack`
also starts a Spark master and workers.
"""
