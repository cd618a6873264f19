package iceberglite.spark.read

import iceberglite.spec.Literal.StringLiteral
import iceberglite.spec.transform.Identity

/**
 * The texts that the partitions of planned files have: for conditions that say something of whole texts and nothing of
 * ranges of them, such as what they end with.
 */
final private[read] class PartitionTexts(files: PlannedFiles) extends (Int => Option[Set[String]]) {

  /**
   * All texts of a column.
   *
   * @param id of the column
   * @return absent where it is no partition field of some file as it is
   */
  override def apply(id: Int): Option[Set[String]] = {
    val positions = files.table.metadata.specs.map { spec =>
      spec.specId -> spec.fields.indexWhere(f => f.transform == Identity && f.sourceIds == Vector(id))
    }.toMap
    if (positions.values.forall(_ < 0)) None
    else {
      val tasks = files.plan.tasks
      if (tasks.exists(t => positions(t.spec.specId) < 0)) None
      else {
        val values = tasks.iterator.map(t => t.file.partition.values(positions(t.spec.specId))).flatten
        Some(values.collect { case StringLiteral(text) => text }.toSet)
      }
    }
  }
}
