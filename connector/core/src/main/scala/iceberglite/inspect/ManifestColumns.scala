package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec._
import iceberglite.spec.Type._
import iceberglite.tree.PartitionSources

/** The columns of a manifest (spec: `manifest_file`), as the metadata tables show them. */
private[inspect] object ManifestColumns {
  val fields: Vector[NestedField] = Vector(
    NestedField.required(14, "content", IntType, "0: data, 1: deletes"),
    NestedField.required(1, "path", StringType),
    NestedField.required(2, "length", LongType),
    NestedField.optional(3, "partition_spec_id", IntType),
    NestedField.optional(4, "added_snapshot_id", LongType),
    NestedField.optional(5, "added_data_files_count", IntType),
    NestedField.optional(6, "existing_data_files_count", IntType),
    NestedField.optional(7, "deleted_data_files_count", IntType),
    NestedField.required(15, "added_delete_files_count", IntType),
    NestedField.required(16, "existing_delete_files_count", IntType),
    NestedField.required(17, "deleted_delete_files_count", IntType),
    NestedField.optional(8, "partition_summaries", ListType(9, summaryType, elementRequired = true))
  )

  private def summaryType: StructType = StructType(Vector(
    NestedField.required(10, "contains_null", BooleanType),
    NestedField.optional(11, "contains_nan", BooleanType),
    NestedField.optional(12, "lower_bound", StringType),
    NestedField.optional(13, "upper_bound", StringType)
  ))
}

/** The values, for the manifests of one table. */
final private[inspect] class ManifestValues(metadata: TableMetadata) {
  private val sources = PartitionSources.schema(metadata, metadata.schema)

  def of(m: ManifestFile): Vector[Any] = {
    val counts = Vector(m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount)
    val isData = m.content == ManifestContent.Data
    Vector(m.content.code, m.path, m.length, Some(m.partitionSpecId), Some(m.addedSnapshotId)) ++
      counts.map(count => if (isData) count else Some(0)) ++
      counts.map(count => if (isData) 0 else count.getOrElse(0)) :+
      m.partitions.map(summaries(m.partitionSpecId, _))
  }

  private def summaries(specId: Int, partitions: Vector[FieldSummary]): Vector[MetadataRow] = {
    val spec = metadata.specsById.getOrElse(specId, PartitionSpec.Unpartitioned)
    val types = spec.partitionType(sources).fields.map(_.fieldType)
    partitions.zip(spec.fields.zip(types)).map { case (summary, (field, fieldType)) =>
      // A bound of nothing but nulls is the word null, as in paths of partitions, and as in Apache Iceberg.
      def human(bound: Option[ByteBuffer]): Option[String] = fieldType match {
        case p: PrimitiveType =>
          Some(bound.flatMap(SingleValue.decodeValid(p, _)).fold("null")(field.transform.toHuman))
        case _: NestedType => None
      }
      MetadataRow.of(summary.containsNull, summary.containsNan, human(summary.lowerBound), human(summary.upperBound))
    }
  }
}
