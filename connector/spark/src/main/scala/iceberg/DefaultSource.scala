package iceberg

import iceberglite.spark.IcebergSource

/**
 * The class that Spark loads for the data source `iceberg` if no data source is registered under that name. This class
 * makes `USING iceberg` work in the session catalog, and `format("iceberg")` everywhere. If Apache Iceberg is on the
 * class path, Spark uses the data source that Apache Iceberg registers instead of this class.
 */
class DefaultSource extends IcebergSource
