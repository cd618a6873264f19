package iceberglite.spec.property

/** The mode in which DELETE, UPDATE and MERGE write changed rows. @param name the name in table properties */
sealed abstract class RowLevelMode(val name: String) extends Serializable {
  override def toString: String = name
}

object RowLevelMode {

  /** The files with changed rows are rewritten. */
  case object CopyOnWrite extends RowLevelMode("copy-on-write")

  /** Changed rows are marked in delete files, and their new versions are appended (spec: "Row-level Deletes"). */
  case object MergeOnRead extends RowLevelMode("merge-on-read")
  val all: Seq[RowLevelMode] = Seq(CopyOnWrite, MergeOnRead)
}

/**
 * The scope of a version 2 position delete file: one data file, or all data files of a partition.
 *
 * @param name the name in table properties
 */
sealed abstract class DeleteGranularity(val name: String) extends Serializable {
  override def toString: String = name
}

object DeleteGranularity {

  /** A delete file covers one data file. Readers of other data files need not open it. */
  case object OfFile extends DeleteGranularity("file")

  /** A delete file covers all data files that a task changed in one partition. This results in fewer delete files. */
  case object OfPartition extends DeleteGranularity("partition")
  val all: Seq[DeleteGranularity] = Seq(OfFile, OfPartition)
}
