package iceberglite.spark.read

import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.partition.Identity
import iceberglite.spec.types.Literal.StringLiteral

/**
 * The partition values of string columns in the planned files. They decide conditions on strings that bounds cannot
 * decide, such as suffixes.
 */
final private[read] class PartitionTexts(files: ScanFiles) extends (Int => Option[Set[String]]) {

  /**
   * Returns all values of a column.
   *
   * @param id the id of the column
   * @return absent if the specs of some planned files do not have the column as an identity field
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
