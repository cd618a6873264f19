package iceberglite.spark.conf

import iceberglite.spec.property.{AutoCompactProperty, Declarations, TableProperty}

/**
 * The limits of the automatic compaction after a write.
 *
 * @param minInputFiles minimum number of small files in a partition; with fewer small files, the partition is not
 *   compacted
 * @param maxFiles maximum number of files to replace
 * @param maxBytes maximum size of the files to replace, in bytes
 */
final case class AutoCompact(minInputFiles: Int, maxFiles: Int, maxBytes: Long)

/** The options of automatic compaction. The options have the same names as the table properties. */
object AutoCompactOptions {
  private val declared = new Declarations[SparkOption[_]]

  val Enabled: SparkOption[Boolean] = option(AutoCompactProperty.Enabled)(SparkOption.flag)
  val MinInputFiles: SparkOption[Int] = option(AutoCompactProperty.MinInputFiles)(SparkOption.count(_, _, _))
  val MaxFiles: SparkOption[Int] = option(AutoCompactProperty.MaxFiles)(SparkOption.count(_, _, _))
  val MaxBytes: SparkOption[Long] = option(AutoCompactProperty.MaxBytes)(SparkOption.bytes)

  private def option[A](property: TableProperty[A])(create: (String, String, A) => SparkOption[A]): SparkOption[A] =
    declared(create(property.key, property.doc, property.default).inTable(property.key))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /** Returns the limits of the compaction after a write; absent if automatic compaction is off. */
  def of(settings: Settings): Option[AutoCompact] =
    if (settings(Enabled)) Some(AutoCompact(settings(MinInputFiles), settings(MaxFiles), settings(MaxBytes))) else None
}
