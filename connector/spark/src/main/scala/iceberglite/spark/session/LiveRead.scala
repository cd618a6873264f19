package iceberglite.spark.session

import org.apache.spark.sql.connector.catalog.SupportsRead

/** An iceberg-lite table that shows its current state when it is read. */
private[iceberglite] trait LiveRead extends SupportsRead {

  /** Returns the table in its current state, regardless of later commits. */
  private[iceberglite] def pinned: LiveRead
}
