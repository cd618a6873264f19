"""The metadata of tables as plain objects, read by PyIceberg without Spark, or through Spark.

The command line and the reports use these objects. PyIceberg reads a table in a few hundred milliseconds, because no
JVM has to start. Spark reads each table that the connector supports, and knows the table's health.
"""
