package iceberglite.spec.property

import iceberglite.spec.IcebergError.InvalidArgument

/** Determines which concurrent changes a write tolerates (spec: "Optimistic Concurrency"). */
sealed abstract class IsolationLevel(val name: String)
object IsolationLevel {

  /** Rejects concurrent changes that add or remove rows that match the write's filter. */
  case object Serializable extends IsolationLevel("serializable")

  /** Tolerates rows that were added concurrently. The write is consistent with the snapshot that it read. */
  case object Snapshot extends IsolationLevel("snapshot")

  val all: Seq[IsolationLevel] = Seq(Serializable, Snapshot)

  /** @throws InvalidArgument if the name is unknown; the message lists the valid levels */
  def parse(name: String): IsolationLevel = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw InvalidArgument("isolation level", name, s"It must be one of ${all.map(_.name).mkString(", ")}")
  )
}
