package iceberglite.spark.write.upsert

import scala.collection.JavaConverters._

import org.apache.spark.sql.types.{BooleanType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.{Settings, StreamWriteOptions, UpsertOptions, WriteOptions}
import iceberglite.spark.write.{DataFileFormats, RowRequirements, WritePlan, WriteRequest}
import iceberglite.spark.write.files.InputField
import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.partition.{PartitionSpec, SortOrder, Void}
import iceberglite.spec.property.DeleteFileProperties
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.tree.MetadataTree

/**
 * The plan of an upsert.
 *
 * @param key the columns that identify rows
 * @param rowPlan how the data files are written
 * @param deletePlan how the equality delete files are written; its partition spec is unpartitioned if a delete must
 *   apply to all partitions
 * @param keyColumns the positions of the key columns in the rows
 * @param deleteColumnIndex the index of the column that marks rows to delete instead of upserting them; absent if there
 *   is no such column
 */
final private[iceberglite] case class UpsertPlan(
    key: UpsertKey,
    rowPlan: WritePlan,
    deletePlan: WritePlan,
    keyColumns: Vector[UpsertKeyColumn],
    deleteColumnIndex: Option[Int]
) {

  /** Whether each equality delete applies only to the partition of its row, and not to the whole table. */
  def deletesByPartition: Boolean = deletePlan.files.spec.isPartitioned
}

private[iceberglite] object UpsertPlan {

  /**
   * Creates the write of an upsert.
   *
   * @throws iceberglite.spec.IcebergError if a setting, a key or a column is not valid for the table
   */
  def of(table: Table, request: WriteRequest): UpsertWrite = {
    val settings = request.settings
    if (table.metadata.formatVersion == FormatVersion.V1) throw Unsupported(
      s"an upsert into ${table.name}",
      "Tables of version 1 have no delete files: use MERGE, or set the table property format-version to 2"
    )
    val caseSensitive = request.session.sessionState.conf.caseSensitiveAnalysis
    val key = UpsertKey.of(table, UpsertOptions.Keys.get(settings), caseSensitive)
    val deleteColumnIndex =
      UpsertOptions.DeleteColumn.get(settings).map(indexOf(table, request.info.schema, _, caseSensitive))
    val rowPlan = planOf(table, request, deleteColumnIndex)
    val keyInput = key.selectFrom(rowPlan.rows.input)
    val plan = UpsertPlan(
      key,
      rowPlan,
      deletePlanOf(rowPlan, keyInput, key, settings),
      key.columns(keyInput, table.properties),
      deleteColumnIndex
    )
    new UpsertWrite(plan, StreamSearch(request.session, settings(StreamWriteOptions.SearchedBytes)))
  }

  /** Returns the index of the column that marks rows to delete instead of upserting them. */
  private def indexOf(table: Table, schema: StructType, name: String, caseSensitive: Boolean): Int = {
    def reject(reason: String): Nothing = throw InvalidArgument("write option upsert-delete-column", name, reason)
    val index = schema.fields.indexWhere(f => if (caseSensitive) f.name == name else f.name.equalsIgnoreCase(name))
    if (index < 0)
      throw NotFound(ObjectKind.Column, name, s"The columns of the rows are ${schema.fieldNames.mkString(", ")}")
    if (schema(index).dataType != BooleanType) reject(s"It is a ${schema(index).dataType.sql}, but must be a BOOLEAN")
    if (table.schema.find(name, caseSensitive).isDefined) reject(
      "The table has a column with this name; rename the column of the rows"
    )
    index
  }

  private def planOf(table: Table, request: WriteRequest, deleteColumnIndex: Option[Int]): WritePlan = {
    val plan = WritePlan.of(table, request, unstoredColumn = deleteColumnIndex).withConstraints
    plan.copy(files = plan.files.copy(sortOrder = SortOrder.Unsorted), requirements = RowRequirements.Unspecified)
  }

  private def deletePlanOf(
      rowPlan: WritePlan,
      input: Vector[InputField],
      key: UpsertKey,
      settings: Settings
  ): WritePlan = {
    val table = rowPlan.table
    val properties = DeleteFileProperties.of(table.properties)
    val format = WriteOptions.DeleteFormat.get(settings).getOrElse(settings(WriteOptions.Format))
    val targetSize = settings(WriteOptions.DeleteTargetSize)
    val deleteOptions =
      Map(WriteOptions.Format.key -> format.name, WriteOptions.TargetFileSize.key -> targetSize.toString)
    val deleteSettings = Settings(new CaseInsensitiveStringMap(deleteOptions.asJava), _ => None, properties)
    val spec = if (canDeleteByPartition(rowPlan, key)) rowPlan.files.spec else PartitionSpec.Unpartitioned
    rowPlan.copy(
      rows = rowPlan.rows.copy(input = input, check = None),
      files = rowPlan.files.copy(
        spec = spec,
        partitionType = spec.partitionType(table.schema),
        format = DataFileFormats.of(table, input, SortOrder.Unsorted, deleteSettings),
        targetSize = targetSize
      )
    )
  }

  /**
   * Whether equality deletes in the partitions of the new rows apply to all existing rows with the same keys. This
   * requires that the key determines the partition. It also requires that all files have the partition spec of the
   * write, because a partitioned equality delete file applies only to data files with the same partition spec (spec:
   * "Scan Planning").
   */
  private def canDeleteByPartition(plan: WritePlan, key: UpsertKey): Boolean = {
    val spec = plan.files.spec
    spec.isPartitioned &&
    spec.fields.filter(_.transform != Void).forall(_.sourceIds.forall(key.ids.contains)) &&
    hasOnlySpec(plan.table, plan.settings.to, spec)
  }

  /** Whether all data files of a branch have the given partition spec. */
  private[upsert] def hasOnlySpec(table: Table, to: SnapshotTarget, spec: PartitionSpec): Boolean =
    table.metadata.specs.size == 1 || !to.head(table.metadata).toVector.flatMap(MetadataTree.at(_, table.tree()).parts)
      .exists(p => p.content == ManifestContent.Data && p.hasLiveFiles && p.specId != spec.specId)
}
