package iceberglite.spec.property

/** Determines which concurrent changes a write tolerates (spec: "Optimistic Concurrency"). */
sealed abstract class IsolationLevel(name: String) extends NamedValue(name)

object IsolationLevel {

  /** Rejects concurrent changes that add or remove rows that match the write's filter. */
  case object Serializable extends IsolationLevel("serializable")

  /** Tolerates rows that were added concurrently. The write is consistent with the snapshot that it read. */
  case object Snapshot extends IsolationLevel("snapshot")

  val all: Seq[IsolationLevel] = Seq(Serializable, Snapshot)

  /** Returns the level with the given name, ignoring case; absent if no level has the name. */
  def parse(name: String): Option[IsolationLevel] = NamedValue.parse(all, name)
}
