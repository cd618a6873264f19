package iceberglite.spark.catalog

import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.MetadataAction

/**
 * A form of ALTER TABLE of this connector that changes only the table's metadata. Therefore, [[TableEvolution]] can
 * commit it together with other changes.
 */
trait MetadataStatement {

  /**
   * Returns the actions of the statement; empty if there is nothing to do. The actions do not depend on each other.
   *
   * @param base the table's metadata to which the statement is applied
   * @throws iceberglite.spec.IcebergError if the statement is not valid for the table
   */
  private[iceberglite] def metadataActions(base: TableMetadata, caseSensitive: Boolean): Seq[MetadataAction]
}
