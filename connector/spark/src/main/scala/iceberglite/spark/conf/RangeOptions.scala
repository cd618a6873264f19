package iceberglite.spark.conf

import scala.util.Try

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{RangeEnd, RangeStart}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/** The range of commits that read options select. */
final case class RangeOptions(start: RangeStart, end: RangeEnd)

object RangeOptions {
  private val StartId = "start-snapshot-id"
  private val StartTime = "start-timestamp"
  private val EndId = "end-snapshot-id"
  private val EndTime = "end-timestamp"

  /** The options that select a range of commits rather than one snapshot. */
  val keys: Seq[String] = Seq(StartId, StartTime, EndId, EndTime)

  /** Returns the range. @throws InvalidArgument if a value is invalid, or if two starts or two ends are set */
  def of(options: CaseInsensitiveStringMap): RangeOptions = RangeOptions(
    oneOf(options, StartId -> RangeStart.After, StartTime -> RangeStart.AfterTime).getOrElse(RangeStart.Oldest),
    oneOf(options, EndId -> RangeEnd.Through, EndTime -> RangeEnd.NotAfter).getOrElse(RangeEnd.Newest)
  )

  /**
   * Returns the range for a read of appended rows, if the options request one.
   *
   * @throws InvalidArgument if a value is invalid, or if two starts, two ends, or an end without a start are set
   */
  def ofAppends(options: CaseInsensitiveStringMap): Option[RangeOptions] = {
    val requested = keys.filter(options.containsKey)
    if (requested.isEmpty) None
    else {
      val range = of(options)
      if (range.start == RangeStart.Oldest) throw InvalidArgument(
        requested.head,
        options.get(requested.head),
        s"The range has no start: set $StartId or $StartTime too. To read a single snapshot, set snapshot-id or " +
          "as-of-timestamp instead"
      )
      Some(range)
    }
  }

  /**
   * Rejects the options for a metadata table, because a metadata table has no commits of its own.
   *
   * @throws Unsupported if an option is set
   */
  def reject(options: CaseInsensitiveStringMap, name: String): Unit = keys.find(options.containsKey).foreach { key =>
    throw Unsupported(s"option $key for $name", "Only a table itself and its metadata table `changes` support it")
  }

  /**
   * Rejects the options for a stream of changes. [[StreamOptions]] select where such a stream begins.
   *
   * @throws Unsupported if an option is set
   */
  def rejectForStream(options: CaseInsensitiveStringMap, name: String): Unit =
    keys.find(options.containsKey).foreach { key =>
      throw Unsupported(
        s"option $key for a stream of changes of $name",
        s"Set ${StreamOptions.FromSnapshot.key} to select where a new query begins, or read the changes as a batch"
      )
    }

  private def oneOf[A](options: CaseInsensitiveStringMap, known: (String, Long => A)*): Option[A] =
    known.filter { case (key, _) => options.containsKey(key) } match {
      case Seq() => None
      case Seq((key, make)) => Some(make(long(key, options.get(key))))
      case several => throw InvalidArgument(
          "read options",
          several.map { case (key, _) => s"$key=${options.get(key)}" }.mkString(", "),
          "Only one of these options may be set"
        )
    }

  private[iceberglite] def long(key: String, value: String): Long = Try(value.trim.toLong).getOrElse(
    throw InvalidArgument(s"option $key", value, s"It must be a whole number from ${Long.MinValue} to ${Long.MaxValue}")
  )
}
