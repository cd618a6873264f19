package iceberglite.spark.read.stats

import scala.util.Try

import iceberglite.scan.FileScanTask
import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema

/**
 * Determines whether a column was added after the data of a file was written, so that the file cannot contain the
 * column. A manifest entry does not state the schema of its file. This class uses the schema of the snapshot whose
 * sequence number is the file's data sequence number.
 */
final private[stats] class ColumnAge(id: Int, metadata: TableMetadata) {

  /**
   * Whether the age of the column can be determined. It cannot be determined with a name mapping, which may find
   * columns of any age in a file without field ids.
   */
  private val canBeDetermined = metadata.formatVersion != FormatVersion.V1 &&
    TableProperty.of(TableProperty.NameMappingDefault, metadata.properties).isEmpty

  /**
   * The id of the first schema that contains the column. Schema ids increase in the order in which schemas were added.
   */
  private lazy val firstSchemaId: Option[Int] =
    Try(metadata.schemas.filter(_.byId.contains(id)).map(_.schemaId).min).toOption

  private lazy val olderSequenceNumbers: Set[Long] = {
    val schemas = metadata.schemas.map(s => s.schemaId -> s).toMap
    metadata.snapshots.filter(_.schemaId.flatMap(schemas.get).exists(isOlder)).map(_.sequenceNumber).toSet
  }

  private def isOlder(schema: Schema): Boolean =
    firstSchemaId.exists(schema.schemaId < _) && schema.byId.keysIterator.forall(_ < id)

  /**
   * Whether the column was certainly added after the data of a file was written. For data of a version 1 table, this
   * cannot be determined, because the sequence number of such data is 0.
   */
  def isNewerThanDataOf(task: FileScanTask): Boolean =
    canBeDetermined && task.dataSequenceNumber > 0 && olderSequenceNumbers.contains(task.dataSequenceNumber)
}
