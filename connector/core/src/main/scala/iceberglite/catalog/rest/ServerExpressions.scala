package iceberglite.catalog.rest

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.Identity
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{AddExpression, CopyExpressions, RemoveExpression, UpgradeFormatVersion}
import iceberglite.table.{Change, TableVersion}

/**
 * Rejects tables of version 4 with partition transforms other than identity. The metadata of such a table has the field
 * `expressions`, which contains an expression such as `bucket[16](id)` for each of these transforms. REST servers drop
 * this field, and without the expressions, the partition values of the table cannot be read.
 */
private[catalog] object ServerExpressions {

  /** @throws Unsupported if the metadata has expressions that a server would drop */
  def check(table: String, metadata: TableMetadata): Unit =
    if (metadata.expressions.exists(e => e.partitionFieldId.isDefined && e.transform != Identity)) throw Unsupported(
      s"partition transforms in $table of format version 4",
      "REST servers do not keep the expressions of version 4, which partition transforms need. Use format version 3, " +
        "or a catalog of another type"
    )

  /**
   * Checks the metadata of an existing table after a change that leaves it in version 4 or later.
   *
   * @throws Unsupported as for [[check]], or if the change concerns expressions
   */
  def check(table: String, base: Option[TableVersion], change: Change, nowMs: Long): Unit = {
    if (change.updates.exists(changesExpressions)) throw Unsupported(
      s"changing the expressions of $table in a REST catalog",
      "The REST catalog specification has no such update. Use a catalog of another type"
    )
    val isUpgraded = change.updates.exists {
      case UpgradeFormatVersion(version) => version >= FormatVersion.V4
      case _ => false
    }
    base.map(_.metadata).filter(m => isUpgraded || m.formatVersion >= FormatVersion.V4)
      .foreach(m => check(table, MetadataUpdate.applyAll(m, change.updates, nowMs)))
  }

  private def changesExpressions(update: MetadataUpdate): Boolean = update match {
    case AddExpression(_, _, _) | CopyExpressions(_) | RemoveExpression(_) => true
    case _ => false
  }
}
