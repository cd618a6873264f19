package iceberglite.sim

import scala.util.Random

import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestEntry, MetricMaps}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{Bucket, Identity, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue, Type}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.storage.FileIO
import iceberglite.table.{Action, Table}

/**
 * What a transaction is to do.
 *
 * @param effects of its snapshots, in order
 * @param shows whether a table's metadata shows that it happened: the parts that are not snapshots
 */
final case class Plan(
    actions: Vector[Action],
    effects: Vector[Effect] = Vector.empty,
    shows: TableMetadata => Boolean = _ => true
)

/** One kind of thing that writers do to the table of a history. */
trait Work {
  def name: String

  /** How often it is done, compared with others. */
  def weight: Int = 2

  /** Decides what to do, and writes the files for it; `None` where the table has nothing to do it with. */
  def plan(desk: Desk): Option[Plan]
}

object Work {
  val all: Seq[Work] = AppendWork.all ++ OverwriteWork.all ++ RowWork.all ++ ReferenceWork.all ++ MetadataWork.all

  /** Draws one by its weight. */
  def draw(works: Seq[Work], random: Random): Work = {
    val chances = works.flatMap(work => Seq.fill(work.weight)(work))
    chances(random.nextInt(chances.size))
  }
}

/**
 * What a writer has before it when it decides what to do.
 *
 * @param operation the number that everything it makes bears
 * @param table as it saw it last, perhaps long ago
 * @param truth reads what the table has, where nothing goes wrong
 */
final class Desk(
    val operation: Int,
    val table: Table,
    truth: SnapshotReader,
    val contents: PretendedContents,
    val random: Random,
    val io: FileIO
) {
  private var made = Vector.empty[String]

  def metadata: TableMetadata = table.metadata

  /** The rows of the table's current snapshot. */
  val rows: Rows = table.currentSnapshot.fold(Rows.None)(truth.rows(metadata, _))

  /** The files of that snapshot. */
  lazy val entries: Vector[ManifestEntry] =
    table.currentSnapshot.fold(Vector.empty[ManifestEntry])(truth.live(metadata, _))

  /** The data and delete files that were written: the writer's to remove if nothing comes of it. */
  def written: Vector[String] = made

  def chance(probability: Double): Boolean = random.nextDouble() < probability

  def oneOf[A](items: Seq[A]): Option[A] = items.lift(random.nextInt(math.max(items.size, 1)))

  def category(): String = Desk.Categories(random.nextInt(Desk.Categories.size))

  /** The data files that a snapshot of the table appended. */
  def appendedBy(snapshot: Snapshot): Vector[PretendedFile] =
    truth.live(metadata, snapshot).filter(_.snapshotId.contains(snapshot.snapshotId)).map(e =>
      contents.file(e.file.path)
    )

  /** A new data file with new rows of a category. */
  def newFile(category: String): PretendedFile = {
    val first = operation * 1000L + made.size * 10
    dataFile(category, (first until first + 1 + random.nextInt(4)).toVector)
  }

  def newFiles(): Vector[PretendedFile] = Vector.fill(1 + random.nextInt(2))(newFile(category()))

  /** A new data file that holds rows that are elsewhere already. */
  def dataFile(category: String, ids: Vector[Long]): PretendedFile = {
    val bounds = Seq(1 -> LongLiteral(ids.min), 2 -> StringLiteral(category))
    val upper = Seq(1 -> LongLiteral(ids.max), 2 -> StringLiteral(category))
    val metrics = MetricMaps(
      valueCounts = Some(Map(1 -> ids.size.toLong, 2 -> ids.size.toLong)),
      nullValueCounts = Some(Map(1 -> 0L, 2 -> 0L)),
      lowerBounds = Some(bounds.map { case (id, v) => id -> SingleValue.encode(v) }.toMap),
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
    pretend(path)
    val pretended = PretendedFile(file, category, ids)
    contents.keep(pretended)
    pretended
  }

  /** Where a new file goes; it is not written by that. */
  def newPath(kind: String, ending: String): String = {
    val path = s"${metadata.location}/data/$kind-$operation-${made.size}$ending"
    made :+= path
    path
  }

  /** Writes a file whose contents nobody reads. */
  def pretend(path: String): Unit = io.write(path, Array.emptyByteArray)

  private def partition(spec: PartitionSpec, category: String): PartitionTuple = PartitionTuple(spec.fields.map {
    field =>
      field.transform match {
        case Identity => Some(StringLiteral(category))
        // Pretended too, but so that rows keep their partition when they move to another file.
        case _: Bucket => Some(IntLiteral(Desk.Categories.indexOf(category) % 2))
        case _ => None
      }
  })
}

object Desk {
  val Categories: Vector[String] = Vector("a", "b", "c")

  val Schema: Schema = iceberglite.spec.schema.Schema(
    0,
    Vector(NestedField.required(1, "id", Type.LongType), NestedField.optional(2, "category", Type.StringType))
  )
}
