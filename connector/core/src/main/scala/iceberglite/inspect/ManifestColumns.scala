package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{EntryStatus, FieldSummary, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, SingleValue, Type}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}
import iceberglite.spec.types.Type._
import iceberglite.tree.{CloseableIterator, EntryCounts, PartitionSpecs, SnapshotFiles, TreeRoot}

/** The columns of metadata tables that describe a manifest (spec: `manifest_file`). */
private[inspect] object ManifestColumns {
  private val ContentId = 14
  private val SpecId = 3

  /**
   * The columns of `manifests`. As in Apache Iceberg, all columns are required, and the fields `contains_nan`,
   * `lower_bound` and `upper_bound` of partition summaries are optional.
   */
  val ofSnapshot: Vector[NestedField] = columns(NestedField.required(_, _, _), nanRequired = false)

  /** The columns of `all_manifests`. As in Apache Iceberg, the required columns differ from those of `manifests`. */
  val ofAllManifests: Vector[NestedField] = columns(NestedField.optional(_, _, _), nanRequired = true)

  /**
   * The columns of `manifests` for tables of version 4, whose roots also have rows. The files of a root may have
   * several partition specs.
   */
  lazy val ofTree: Vector[NestedField] = ofSnapshot.map {
    case f if f.id == ContentId => f.copy(doc = Some("0: data, 1: deletes, 2: root"))
    case f if f.id == SpecId => f.copy(required = false)
    case f => f
  } :+ Level

  /** The last column of `manifests` and `all_manifests` for tables of version 4. */
  lazy val Level: NestedField =
    NestedField.required(20, "level", IntType, "0: root, 1: manifest to which a root or manifest list refers")

  /** Returns whether the metadata tables of a table have the column `level`. */
  def hasLevels(metadata: TableMetadata): Boolean = metadata.formatVersion >= FormatVersion.V4

  /**
   * Returns the columns of `manifests` or of `all_manifests`.
   *
   * @param field creates the fields that are required in only one of the two metadata tables
   * @param nanRequired whether `contains_nan` is required
   */
  private def columns(field: (Int, String, Type) => NestedField, nanRequired: Boolean): Vector[NestedField] = Vector(
    NestedField.required(ContentId, "content", IntType, "0: data, 1: deletes"),
    NestedField.required(1, "path", StringType),
    NestedField.required(2, "length", LongType),
    field(SpecId, "partition_spec_id", IntType),
    field(4, "added_snapshot_id", LongType),
    field(5, "added_data_files_count", IntType),
    field(6, "existing_data_files_count", IntType),
    field(7, "deleted_data_files_count", IntType),
    NestedField.required(15, "added_delete_files_count", IntType),
    NestedField.required(16, "existing_delete_files_count", IntType),
    NestedField.required(17, "deleted_delete_files_count", IntType),
    field(8, "partition_summaries", ListType(9, summaryType(nanRequired), elementRequired = true))
  )

  private def summaryType(nanRequired: Boolean): StructType = StructType(Vector(
    NestedField.required(10, "contains_null", BooleanType),
    if (nanRequired) NestedField.required(11, "contains_nan", BooleanType)
    else NestedField.optional(11, "contains_nan", BooleanType),
    NestedField.optional(12, "lower_bound", StringType),
    NestedField.optional(13, "upper_bound", StringType)
  ))
}

private[inspect] object ManifestValues {

  /** The value of the column `content` for a root. */
  private val RootContent = 2
  private val SpecIdIndex = 3
}

/** The values of the columns for the manifests of one snapshot. */
final private[inspect] class ManifestValues(metadata: TableMetadata, files: SnapshotFiles) {
  import ManifestValues.SpecIdIndex

  private val sources = PartitionSpecs.sources(metadata, metadata.schema)

  /**
   * Returns the values of [[ManifestColumns.ofSnapshot]]. If a manifest list of format version 1 has no file counts,
   * the entries of the manifest are counted.
   */
  def ofSnapshot(m: ManifestFile): Vector[Any] = {
    val stored = for (added <- m.addedFilesCount; existing <- m.existingFilesCount; deleted <- m.deletedFilesCount)
      yield Vector(added, existing, deleted)
    val counts = stored.getOrElse(countEntries(m))
    val zeros = Vector(0, 0, 0)
    (Vector(m.content.code, m.path, m.length, m.partitionSpecId, m.addedSnapshotId) ++
      (if (m.content == ManifestContent.Data) counts ++ zeros else zeros ++ counts)) :+
      summaries(m)((summary, _, _) => summary.containsNan).getOrElse(Vector.empty)
  }

  /** Returns the values of [[ManifestColumns.ofAllManifests]]. */
  def ofAllManifests(m: ManifestFile): Vector[Any] = {
    val counts = Vector(m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount)
    val isData = m.content == ManifestContent.Data
    Vector(m.content.code, m.path, m.length, Some(m.partitionSpecId), Some(m.addedSnapshotId)) ++
      counts.map(count => if (isData) count else Some(0)) ++
      counts.map(count => if (isData) 0 else count.getOrElse(0)) :+
      summaries(m)((summary, ordinal, fieldType) => summary.containsNan.getOrElse(hasNan(m, ordinal, fieldType)))
  }

  /**
   * Returns the values of [[ManifestColumns.ofTree]] for the manifests and, if the snapshot has a root instead of a
   * manifest list, for the root.
   */
  def ofTree: Vector[Vector[Any]] =
    files.treeRoot.toVector.map(ofRoot(_) ++ Vector(Vector.empty, 0)) ++ files.manifests.map { m =>
      val values = ofSnapshot(m)
      values.updated(SpecIdIndex, Some(m.partitionSpecId)) :+ 1
    }

  /**
   * Returns the values of the columns of `all_manifests` for tables of version 4, except those after the partition
   * summaries, with the level of each row.
   */
  def ofAllLevels: Vector[(Vector[Any], Int)] =
    files.treeRoot.toVector.map { root =>
      val values = ofRoot(root).zipWithIndex.map { case (value, i) => if (optional(i)) Some(value) else value }
      (values.updated(SpecIdIndex, None) :+ None, 0)
    } ++ files.manifests.map(m => (ofAllManifests(m), 1))

  /** Returns whether a column of `all_manifests` is optional. */
  private def optional(index: Int): Boolean = ManifestColumns.ofAllManifests(index).optional

  /** Returns the values of a root up to the counts. */
  private def ofRoot(root: TreeRoot): Vector[Any] = {
    def counts(c: EntryCounts) = Vector(c.added, c.existing, c.deleted)
    Vector(ManifestValues.RootContent, root.path, root.length, None, files.snapshot.snapshotId) ++
      counts(root.data) ++ counts(root.deletes)
  }

  private def countEntries(m: ManifestFile): Vector[Int] = {
    val statuses = entries(m).map(_.status).toVector
    Vector(EntryStatus.Added, EntryStatus.Existing, EntryStatus.Deleted).map(status => statuses.count(_ == status))
  }

  private def entries(m: ManifestFile): CloseableIterator[ManifestEntry] =
    files.parts.find(_.path == m.path).fold[CloseableIterator[ManifestEntry]](CloseableIterator.of(Iterator.empty))(
      files.entries
    )

  /** Returns whether a partition field has NaN. The manifest is read only if the type of the field has NaN. */
  private def hasNan(m: ManifestFile, ordinal: Int, fieldType: Type): Boolean = fieldType match {
    case FloatType | DoubleType => entries(m).exists(_.file.partition.values.lift(ordinal).flatten.exists {
        case FloatLiteral(value) => value.isNaN
        case DoubleLiteral(value) => value.isNaN
        case _ => false
      })
    case _ => false
  }

  /**
   * Returns the partition summaries.
   *
   * @param containsNan returns the value of `contains_nan` for a partition field with its summary, its ordinal and its
   *   type
   */
  private def summaries(m: ManifestFile)(containsNan: (FieldSummary, Int, Type) => Any): Option[Vector[MetadataRow]] =
    m.partitions.map { partitions =>
      val spec = metadata.specsById.getOrElse(m.partitionSpecId, PartitionSpec.Unpartitioned)
      val types = spec.partitionType(sources).fields.map(_.fieldType)
      partitions.zip(spec.fields.zip(types)).zipWithIndex.map { case ((summary, (field, fieldType)), ordinal) =>
        // An absent bound, for example of a partition field with only null values, is shown as "null", as in Apache
        // Iceberg.
        def human(bound: Option[ByteBuffer]): Option[String] = fieldType match {
          case p: PrimitiveType =>
            Some(bound.flatMap(SingleValue.decodeValid(p, _)).fold("null")(field.transform.toHuman))
          case _: NestedType => None
        }
        val nan = containsNan(summary, ordinal, fieldType)
        MetadataRow.of(summary.containsNull, nan, human(summary.lowerBound), human(summary.upperBound))
      }
    }
}
