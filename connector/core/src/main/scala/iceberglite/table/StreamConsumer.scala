package iceberglite.table

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}

/**
 * A consumer: a reader of a stream under a name that the user chose. The snapshots that a consumer has not read yet are
 * protected from expiration. The position of a consumer is a tag of the table, which refers to the last snapshot of
 * which the consumer has read rows.
 *
 * @param id the name that the user chose
 */
final case class StreamConsumer(id: String) {
  if (id.trim.isEmpty) throw InvalidArgument("consumer id", s"'$id'", "It must not be blank")

  /** The name of the tag. */
  def tag: String = s"${StreamConsumer.TagPrefix}$id"
}

object StreamConsumer {
  private val TagPrefix = "stream-"

  /**
   * Returns the consumers of a table and their tags, ordered by id. A tag without a maximum age does not belong to a
   * consumer, even if its name begins with `stream-`.
   */
  def of(table: TableMetadata): Vector[(StreamConsumer, SnapshotRef.Tag)] = table.refs.toVector.collect {
    case (name, tag: SnapshotRef.Tag) if tag.maxRefAgeMs.isDefined && isConsumer(name) =>
      StreamConsumer(name.drop(TagPrefix.length)) -> tag
  }.sortBy(_._1.id)

  private def isConsumer(tag: String): Boolean =
    tag.startsWith(TagPrefix) && tag.drop(TagPrefix.length).trim.nonEmpty

  /**
   * Returns the ids of the snapshots that a consumer has not read completely: in the history of each branch, the
   * snapshots from the oldest tag of a consumer on.
   *
   * @param isRemoved whether a tag is being removed, so that it protects no snapshot
   */
  def unread(table: TableMetadata, isRemoved: String => Boolean): Set[Long] = {
    val positions = of(table).filterNot { case (consumer, _) => isRemoved(consumer.tag) }.map(_._2.snapshotId).toSet
    if (positions.isEmpty) Set.empty
    else table.refs.values.toSet[SnapshotRef].collect { case branch: SnapshotRef.Branch => branch.snapshotId }
      .flatMap(table.findSnapshot(_)).flatMap(unreadUpTo(table, _, positions))
  }

  private def unreadUpTo(table: TableMetadata, head: Snapshot, positions: Set[Long]): Vector[Long] = {
    val newestFirst = table.ancestors(head).map(_.snapshotId).toVector
    newestFirst.take(newestFirst.lastIndexWhere(positions) + 1)
  }
}
