package iceberglite.spark.session

import org.apache.spark.sql.connector.catalog.SupportsRead

/** An iceberg-lite table that follows later commits, and that can be pinned to its current version. */
private[iceberglite] trait PinnableTable extends SupportsRead {

  /** Returns the table fixed at its current version, regardless of later commits. */
  private[iceberglite] def pinned: PinnableTable
}
