package iceberg

import iceberglite.spark.IcebergSource

/**
 * Where Spark looks for the data source `iceberg` if none is registered under that name: so `USING iceberg` works in
 * the session catalog and `format("iceberg")` everywhere, unless Apache Iceberg is there, which registers the name.
 */
class DefaultSource extends IcebergSource
