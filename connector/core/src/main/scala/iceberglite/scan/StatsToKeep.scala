package iceberglite.scan

import iceberglite.spec.{ContentFile, Metrics, PartSummary}

/** Which metrics stay with the files of a plan: those that nobody will ask for would only fill the heap. */
sealed trait StatsToKeep extends Product with Serializable {

  /** The file with these metrics. */
  def of(file: ContentFile): ContentFile

  /** Whether the metrics of all these fields are kept. */
  def has(ids: Set[Int]): Boolean

  /** These, and those of some more fields. */
  def and(more: Set[Int]): StatsToKeep

  /** What is kept of the files of these parts. */
  private[scan] def among(parts: Vector[PartSummary]): StatsToKeep
}

object StatsToKeep {

  /** Whatever is known of the files. What was read from a manifest keeps its decoded blocks in memory. */
  case object All extends StatsToKeep {
    override def of(file: ContentFile): ContentFile = file
    override def has(ids: Set[Int]): Boolean = true
    override def and(more: Set[Int]): StatsToKeep = this
    override private[scan] def among(parts: Vector[PartSummary]): StatsToKeep = this
  }

  /**
   * Those of some fields, by their ids. The scan adds the fields that its filter and its deletes are about.
   *
   * @param fromBytes least size of all parts together, in bytes; of smaller ones everything is kept
   */
  final case class Of(ids: Set[Int], fromBytes: Long = 0L) extends StatsToKeep {
    override def of(file: ContentFile): ContentFile =
      if (file.metrics eq Metrics.Empty) file else file.copy(metrics = file.metrics.only(ids))

    override def has(others: Set[Int]): Boolean = others.subsetOf(ids)

    override def and(more: Set[Int]): StatsToKeep = copy(ids = ids ++ more)

    override private[scan] def among(parts: Vector[PartSummary]): StatsToKeep =
      if (parts.iterator.map(_.length).sum < fromBytes) All else this
  }
}
