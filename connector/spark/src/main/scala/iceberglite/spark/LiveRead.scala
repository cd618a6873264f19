package iceberglite.spark

import org.apache.spark.sql.connector.catalog.SupportsRead

/** A table of ours that shows what there is when it is read. */
private[spark] trait LiveRead extends SupportsRead {

  /** The same as of now, whatever is committed to it. */
  private[spark] def pinned: LiveRead
}
