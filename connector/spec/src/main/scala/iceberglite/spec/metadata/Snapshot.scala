package iceberglite.spec.metadata

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument

/** The operation of a snapshot (spec: "Snapshots"). @param name the name of the operation in the snapshot summary */
sealed abstract class Operation(val name: String) extends Serializable
object Operation {
  case object Append extends Operation("append")
  case object Replace extends Operation("replace")
  case object Overwrite extends Operation("overwrite")
  case object Delete extends Operation("delete")
  val all: Seq[Operation] = Seq(Append, Replace, Overwrite, Delete)
}

/**
 * The state of a table at a point in time (spec: "Snapshots").
 *
 * @param sequenceNumber the sequence number; 0 in version 1
 * @param manifestList absent only in version 1 tables that list their manifests in `manifests`
 * @param summary the summary, including the key `operation`; empty if a version 1 writer omitted it
 * @param firstRowId version 3: the first row id that the snapshot can assign: the table's next row id before the commit
 * @param addedRows version 3: the number of row ids that the snapshot assigned
 * @param keyId version 3: the id of the key that encrypts the key metadata of the manifest list
 */
sealed case class Snapshot(
    snapshotId: Long,
    parentSnapshotId: Option[Long],
    sequenceNumber: Long,
    timestampMs: Long,
    manifestList: Option[String],
    manifests: Vector[String],
    summary: Map[String, String],
    schemaId: Option[Int],
    firstRowId: Option[Long] = None,
    addedRows: Option[Long] = None,
    keyId: Option[String] = None
) {
  def operation: Option[String] = summary.get(Snapshot.OperationKey)

  /**
   * Returns a count from the summary; absent if the summary lacks the key, or if the value of the key is not a number.
   */
  def count(key: String): Option[Long] = summary.get(key).flatMap(text => Try(text.toLong).toOption)
}

/**
 * A snapshot together with its JSON form. Each new metadata file contains all existing snapshots. The writer copies the
 * JSON text of a snapshot, instead of serializing the snapshot again. Comparisons of snapshots ignore the text. Copies
 * of the snapshot, and snapshots that Java has deserialized, do not have the text.
 */
final private[spec] class SnapshotWithJson(snapshot: Snapshot, val json: JsonSlice)
    extends Snapshot(
      snapshot.snapshotId,
      snapshot.parentSnapshotId,
      snapshot.sequenceNumber,
      snapshot.timestampMs,
      snapshot.manifestList,
      snapshot.manifests,
      snapshot.summary,
      snapshot.schemaId,
      snapshot.firstRowId,
      snapshot.addedRows,
      snapshot.keyId
    ) {
  private def writeReplace(): AnyRef = copy()
}

/**
 * The bytes of a JSON value within a document, from `from` (inclusive) to `until` (exclusive). The array `bytes`
 * contains the whole document. Other objects use the same array, so it must not be modified.
 */
final private[spec] case class JsonSlice(bytes: Array[Byte], from: Int, until: Int)

object Snapshot {
  val OperationKey = "operation"
}

/** A branch or a tag (spec: "Snapshot References"). */
sealed trait SnapshotRef {
  def snapshotId: Long
  def maxRefAgeMs: Option[Long]

  /** The type in JSON: `branch` or `tag`. */
  def kind: String
}

object SnapshotRef {
  final case class Branch(
      snapshotId: Long,
      minSnapshotsToKeep: Option[Int] = None,
      maxSnapshotAgeMs: Option[Long] = None,
      maxRefAgeMs: Option[Long] = None
  ) extends SnapshotRef {
    override def kind: String = "branch"
  }
  final case class Tag(snapshotId: Long, maxRefAgeMs: Option[Long] = None) extends SnapshotRef {
    override def kind: String = "tag"
  }

  /** The name of the branch whose head is the current snapshot of the table. */
  val Main = "main"

  /**
   * Checks a branch or tag, and returns it.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if a retention setting is not positive, or if `main` is a tag
   */
  def checked(name: String, ref: SnapshotRef): SnapshotRef = {
    def requirePositive(setting: String, value: Option[Long]): Unit = value.filter(_ <= 0).foreach { v =>
      throw InvalidArgument(s"$setting of $name", v.toString, "It must be positive")
    }
    requirePositive("max-ref-age-ms", ref.maxRefAgeMs)
    ref match {
      case b: Branch =>
        requirePositive("min-snapshots-to-keep", b.minSnapshotsToKeep.map(_.toLong))
        requirePositive("max-snapshot-age-ms", b.maxSnapshotAgeMs)
        b
      case t: Tag if name == Main =>
        throw InvalidArgument("type of the reference main", t.kind, "It must be a branch")
      case t: Tag => t
    }
  }
}

/** An entry of the snapshot log, which contains the time at which a snapshot became the current snapshot. */
final case class SnapshotLogEntry(timestampMs: Long, snapshotId: Long)

/** An entry of the metadata log, which refers to a previous metadata file. */
final case class MetadataLogEntry(timestampMs: Long, metadataFile: String)
