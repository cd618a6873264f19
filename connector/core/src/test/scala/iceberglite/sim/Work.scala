package iceberglite.sim

import scala.util.Random

import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestEntry, MetricMaps}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{Bucket, Identity, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue, Type}
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.storage.FileIO
import iceberglite.table.{Action, Table}

/**
 * The plan of a transaction.
 *
 * @param effects the expected effects of the snapshots that the transaction adds, in order
 * @param hasChanges returns whether table metadata contains the planned changes that create no snapshot
 */
final case class Plan(
    actions: Vector[Action],
    effects: Vector[Effect] = Vector.empty,
    hasChanges: TableMetadata => Boolean = _ => true
)

/** A kind of operation that simulated writers perform on the table. */
trait Work {
  def name: String

  /** The relative frequency of the operation. */
  def weight: Int = 2

  /** Plans the operation and writes its files. Returns `None` if the operation does not apply to the table. */
  def plan(state: WriterState): Option[Plan]
}

object Work {
  val all: Seq[Work] = AppendWork.all ++ OverwriteWork.all ++ RowWork.all ++ ReferenceWork.all ++ MetadataWork.all

  /** Chooses an operation at random, in proportion to the weights. */
  def draw(works: Seq[Work], random: Random): Work = {
    val weighted = works.flatMap(work => Seq.fill(work.weight)(work))
    weighted(random.nextInt(weighted.size))
  }
}

/**
 * The state that a writer uses to plan an operation.
 *
 * @param operation the operation number, which marks everything that the operation creates
 * @param table the table as the writer last saw it, possibly stale
 * @param truth reads snapshots from the storage without injected faults
 */
final class WriterState(
    val operation: Int,
    val table: Table,
    truth: SnapshotReader,
    val contents: SimulatedContents,
    val random: Random,
    val io: FileIO
) {
  private var newPaths = Vector.empty[String]

  def metadata: TableMetadata = table.metadata

  /** The rows of the table's current snapshot. */
  val rows: Rows = table.currentSnapshot.fold(Rows.None)(truth.rows(metadata, _))

  /** The live entries of the table's current snapshot. */
  lazy val entries: Vector[ManifestEntry] =
    table.currentSnapshot.fold(Vector.empty[ManifestEntry])(truth.live(metadata, _))

  /** The paths of the data and delete files of this operation. The writer deletes them if the commit fails. */
  def written: Vector[String] = newPaths

  def chance(probability: Double): Boolean = random.nextDouble() < probability

  def oneOf[A](items: Seq[A]): Option[A] = items.lift(random.nextInt(math.max(items.size, 1)))

  def category(): String = WriterState.Categories(random.nextInt(WriterState.Categories.size))

  /** Returns the data files that the given snapshot added. */
  def appendedBy(snapshot: Snapshot): Vector[SimulatedFile] =
    truth.live(metadata, snapshot).filter(_.snapshotId.contains(snapshot.snapshotId)).map(e =>
      contents.file(e.file.path)
    )

  /** Creates a data file with new rows of a category. */
  def newFile(category: String): SimulatedFile = {
    val firstId = operation * 1000L + newPaths.size * 10
    dataFile(category, (firstId until firstId + 1 + random.nextInt(4)).toVector)
  }

  def newFiles(): Vector[SimulatedFile] = Vector.fill(1 + random.nextInt(2))(newFile(category()))

  /** Creates a data file with rows with the given ids, which may already exist in other files. */
  def dataFile(category: String, ids: Vector[Long]): SimulatedFile = {
    val lower = Seq(1 -> LongLiteral(ids.min), 2 -> StringLiteral(category))
    val upper = Seq(1 -> LongLiteral(ids.max), 2 -> StringLiteral(category))
    val metrics = MetricMaps(
      valueCounts = Some(Map(1 -> ids.size.toLong, 2 -> ids.size.toLong)),
      nullValueCounts = Some(Map(1 -> 0L, 2 -> 0L)),
      lowerBounds = Some(lower.map { case (id, v) => id -> SingleValue.encode(v) }.toMap),
      upperBounds = Some(upper.map { case (id, v) => id -> SingleValue.encode(v) }.toMap)
    )
    val path = newPath("data", ".parquet")
    val spec = metadata.spec
    val file = ContentFile(
      Content.Data,
      path,
      FileFormat.Parquet,
      spec.specId,
      partition(spec, category),
      ids.size.toLong,
      100L * ids.size,
      metrics
    )
    writePlaceholder(path)
    val simulated = SimulatedFile(file, category, ids)
    contents.keep(simulated)
    simulated
  }

  /** Returns the path of a new file, without writing it. */
  def newPath(kind: String, ending: String): String = {
    val path = s"${metadata.location}/data/$kind-$operation-${newPaths.size}$ending"
    newPaths :+= path
    path
  }

  /** Writes an empty file, whose contents are never read. */
  def writePlaceholder(path: String): Unit = io.write(path, Array.emptyByteArray)

  private def partition(spec: PartitionSpec, category: String): PartitionTuple = PartitionTuple(spec.fields.map {
    field =>
      field.transform match {
        case Identity => Some(StringLiteral(category))
        case bucket: Bucket => bucket(StringLiteral(category))
        case _ => None
      }
  })
}

object WriterState {
  val Categories: Vector[String] = Vector("a", "b", "c")

  val Schema: Schema = iceberglite.spec.schema.Schema(
    0,
    Vector(NestedField.required(1, "id", Type.LongType), NestedField.optional(2, "category", Type.StringType))
  )
}
