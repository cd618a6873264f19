package iceberg

import iceberglite.spark.IcebergSource

/**
 * Where Spark looks for the data source `iceberg` if none is registered under that name: so `USING iceberg` works in the
 * session catalog and `format("iceberg")` everywhere, until Apache Iceberg itself, which registers the name, is there.
 */
class DefaultSource extends IcebergSource
