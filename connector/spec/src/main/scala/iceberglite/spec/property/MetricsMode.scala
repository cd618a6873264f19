package iceberglite.spec.property

import scala.util.Try

/** The metrics of a column that a writer stores in the metadata of a file. @param name the name in table properties */
sealed abstract class MetricsMode(name: String) extends Serializable {
  override def toString: String = name
}

object MetricsMode {
  case object NoMetrics extends MetricsMode("none")

  /** Counts of values, nulls and NaNs, without bounds. */
  case object Counts extends MetricsMode("counts")

  /** Counts and bounds. The bounds of strings and binaries are truncated to `length`. */
  final case class Truncate(length: Int) extends MetricsMode("truncate") {
    override def toString: String = s"truncate($length)"
  }
  case object Full extends MetricsMode("full")

  private val Truncated = """truncate\((\d+)\)""".r

  def parse(text: String): Option[MetricsMode] = text.trim.toLowerCase(java.util.Locale.ROOT) match {
    case "none" => Some(NoMetrics)
    case "counts" => Some(Counts)
    case "full" => Some(Full)
    case Truncated(digits) => Try(digits.toInt).toOption.filter(_ > 0).map(Truncate(_))
    case _ => None
  }
}
