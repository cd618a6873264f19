package iceberglite.spec.property

import iceberglite.spec.property.TableProperty.{flag, positiveInt, size}

/** The table properties of automatic compaction. Other Iceberg implementations ignore these properties. */
object AutoCompactProperty {
  val Enabled: TableProperty[Boolean] = flag(
    "iceberg-lite.auto-compact",
    default = false,
    "Whether a write combines the small files of the partitions to which it has written, after its commit"
  )
  val MinInputFiles: TableProperty[Int] = positiveInt(
    "iceberg-lite.auto-compact.min-input-files",
    20,
    "Minimum number of small files in a partition that automatic compaction combines"
  )
  val MaxFiles: TableProperty[Int] = positiveInt(
    "iceberg-lite.auto-compact.max-files",
    1000,
    "Maximum number of files that one automatic compaction replaces"
  )
  val MaxBytes: TableProperty[Long] = size(
    "iceberg-lite.auto-compact.max-bytes",
    1L << 30,
    "Maximum total size of the files that one automatic compaction replaces"
  )

  /** All properties, in the order of the documentation. */
  private[iceberglite] def all: Seq[TableProperty[_]] = Seq(Enabled, MinInputFiles, MaxFiles, MaxBytes)
}
