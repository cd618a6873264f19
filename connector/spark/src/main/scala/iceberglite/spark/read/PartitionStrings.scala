package iceberglite.spark.read

import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.partition.Identity
import iceberglite.spec.types.Literal.StringLiteral

/**
 * The partition values of string columns with an identity partition field in the planned files. These values decide
 * conditions that column bounds cannot decide, such as conditions on suffixes.
 */
final private[read] class PartitionStrings(files: ScanFiles) extends (Int => Option[Set[String]]) {

  /**
   * Returns all values of a string column in the planned files, without null.
   *
   * @param id the id of the column
   * @return absent if the partition spec of a planned file has no identity field for the column
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
