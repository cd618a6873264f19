package iceberglite.table

import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{Identity, PartitionTuple, UnboundPartitionField}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.storage.FileIO
import iceberglite.tree.{DefaultVersion, SeenParts, TreeReader}

/** Definitions of simple tables, and `ContentFile`s of data files that do not exist in the storage. */
object TestTables {
  val schema: Schema = Schema(
    0,
    Vector(NestedField.required(1, "id", LongType), NestedField.optional(2, "category", StringType))
  )

  /** An environment that never waits, and in which a commit returns after its clean-up. */
  val environment: Environment = Environment.system.copy(sleep = _ => (), cleanup = CleanupInCommit)

  def unpartitioned(properties: (String, String)*): TableCreation =
    TableCreation(schema, properties = withVersion(properties))

  def byCategory(properties: (String, String)*): TableCreation = TableCreation(
    schema,
    Vector(UnboundPartitionField(Vector("category"), Identity)),
    properties = withVersion(properties)
  )

  private def withVersion(properties: Seq[(String, String)]): Map[String, String] =
    DefaultVersion.properties ++ properties

  /** Creates the `ContentFile` of a data file of an unpartitioned table. `ids` are the bounds of the column `id`. */
  def file(path: String, records: Long = 10, ids: (Long, Long) = (0, 99)): ContentFile =
    dataFile(path, records, ids, PartitionTuple.Empty)

  /** Creates the `ContentFile` of a data file in the category's partition. `ids` are the bounds of the column `id`. */
  def fileOf(category: String, path: String, records: Long = 10, ids: (Long, Long) = (0, 99)): ContentFile =
    dataFile(path, records, ids, PartitionTuple(Vector(Some(StringLiteral(category)))))

  private def dataFile(path: String, records: Long, ids: (Long, Long), partition: PartitionTuple): ContentFile =
    ContentFile(
      Content.Data,
      path,
      FileFormat.Parquet,
      0,
      partition,
      records,
      records * 100,
      MetricMaps(
        valueCounts = Some(Map(1 -> records)),
        nullValueCounts = Some(Map(1 -> 0L)),
        lowerBounds = Some(Map(1 -> SingleValue.encode(Literal.LongLiteral(ids._1)))),
        upperBounds = Some(Map(1 -> SingleValue.encode(Literal.LongLiteral(ids._2))))
      )
    )

  /** Returns the sorted paths of the live files of a snapshot, including delete files. Reads every manifest. */
  def liveFiles(io: FileIO, metadata: TableMetadata, snapshot: Option[Snapshot]): Vector[String] = {
    val tree = new TreeReader(io, metadata)
    snapshot.toVector.flatMap(tree.live(_)).map(_.file.path).sorted
  }

  def liveFiles(table: Table): Vector[String] = liveFiles(table.io, table.metadata, table.currentSnapshot)

  /** Returns the paths of all metadata files that the version references, including manifest lists and manifests. */
  def reachable(io: FileIO, version: TableVersion): Set[String] = {
    val tree = new TreeReader(io, version.metadata)
    version.metadata.snapshots.flatMap(tree.files(_).reachable(new SeenParts).metadata).toSet ++
      version.metadata.metadataLog.map(_.metadataFile) + version.metadataLocation
  }
}
