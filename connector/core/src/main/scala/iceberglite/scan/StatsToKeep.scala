package iceberglite.scan

import iceberglite.spec.file.{ContentFile, Metrics, PartSummary}

/** Determines which metrics the files of a plan retain. All other metrics are dropped to save heap memory. */
sealed trait StatsToKeep extends Product with Serializable {

  /** Returns the file with only the retained metrics. */
  def of(file: ContentFile): ContentFile

  /** Returns whether the metrics of all these fields are retained. @param ids field ids */
  def hasAll(ids: Set[Int]): Boolean

  /** Returns a copy that also retains the metrics of additional fields. @param more field ids */
  def and(more: Set[Int]): StatsToKeep

  /**
   * Returns the metrics to retain for the files that the given parts of the metadata tree (manifests in format versions
   * 1 to 3) list.
   */
  private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep
}

object StatsToKeep {

  /** Retains all metrics. Metrics that were read from a manifest keep its decompressed blocks in memory. */
  case object All extends StatsToKeep {
    override def of(file: ContentFile): ContentFile = file
    override def hasAll(ids: Set[Int]): Boolean = true
    override def and(more: Set[Int]): StatsToKeep = this
    override private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep = this
  }

  /**
   * Retains the metrics of some fields. The scan adds the fields of its filter and of the equality deletes.
   *
   * @param fromBytes the minimum total length of the parts in bytes; if the total is smaller, all metrics are retained
   */
  final case class Of(ids: Set[Int], fromBytes: Long = 0L) extends StatsToKeep {
    override def of(file: ContentFile): ContentFile =
      if (file.metrics eq Metrics.Empty) file else file.copy(metrics = file.metrics.only(ids))

    override def hasAll(others: Set[Int]): Boolean = others.subsetOf(ids)

    override def and(more: Set[Int]): StatsToKeep = copy(ids = ids ++ more)

    override private[scan] def forParts(parts: Vector[PartSummary]): StatsToKeep =
      if (parts.iterator.map(_.length).sum < fromBytes) All else this
  }
}
