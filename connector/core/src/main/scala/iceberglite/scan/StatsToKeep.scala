package iceberglite.scan

import iceberglite.spec.file.{ContentFile, Metrics, PartSummary}

/** Which metrics to keep with the files of a plan. Metrics that are not needed later would only fill the heap. */
sealed trait StatsToKeep extends Product with Serializable {

  /** Returns the file with these metrics only. */
  def of(file: ContentFile): ContentFile

  /** Returns whether the metrics of all these fields are kept. */
  def has(ids: Set[Int]): Boolean

  /** Keeps the metrics of additional fields too. */
  def and(more: Set[Int]): StatsToKeep

  /** Returns what to keep for the files of these parts. */
  private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep
}

object StatsToKeep {

  /** Keeps all metrics. Metrics that were read from a manifest keep its decoded blocks in memory. */
  case object All extends StatsToKeep {
    override def of(file: ContentFile): ContentFile = file
    override def has(ids: Set[Int]): Boolean = true
    override def and(more: Set[Int]): StatsToKeep = this
    override private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep = this
  }

  /**
   * Keeps the metrics of some fields, by their ids. The scan adds the fields of its filter and its deletes.
   *
   * @param fromBytes the minimum total size of the parts in bytes; for smaller ones, all metrics are kept
   */
  final case class Of(ids: Set[Int], fromBytes: Long = 0L) extends StatsToKeep {
    override def of(file: ContentFile): ContentFile =
      if (file.metrics eq Metrics.Empty) file else file.copy(metrics = file.metrics.only(ids))

    override def has(others: Set[Int]): Boolean = others.subsetOf(ids)

    override def and(more: Set[Int]): StatsToKeep = copy(ids = ids ++ more)

    override private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep =
      if (parts.iterator.map(_.length).sum < fromBytes) All else this
  }
}
