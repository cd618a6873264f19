package iceberglite.spark.conf

import iceberglite.spec.property.{AutoCompactProperty, Declarations, TableProperty}

/**
 * The limits of the compaction that follows a write.
 *
 * @param minInputFiles the minimum number of small files in a partition that are combined
 * @param maxFiles maximum number of files to replace
 * @param maxBytes maximum size of the files to replace, in bytes
 */
final case class AutoCompact(minInputFiles: Int, maxFiles: Int, maxBytes: Long)

/** The options of automatic compaction. They have the names of the table properties. */
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

  /** Returns the limits of the compaction after a write; absent if there is none. */
  def of(settings: Settings): Option[AutoCompact] =
    if (settings(Enabled)) Some(AutoCompact(settings(MinInputFiles), settings(MaxFiles), settings(MaxBytes))) else None
}
