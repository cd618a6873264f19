package iceberglite.spark.session

import org.apache.spark.sql.connector.catalog.SupportsRead

/** An iceberg-lite table whose reads use the current version of the table. */
private[iceberglite] trait PinnableTable extends SupportsRead {

  /** Returns the table fixed at its current version, regardless of later commits. */
  private[iceberglite] def pinned: PinnableTable
}
