package iceberglite.maintenance

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling

/**
 * Reads values of options.
 *
 * @param known the names of all options
 * @throws InvalidArgument if an option is unknown
 */
final private[maintenance] class OptionValues(options: Map[String, String], known: Seq[String]) {
  options.keys.find(!known.contains(_)).foreach { key =>
    val similar =
      Spelling.closest(key, known).fold(s"The options are ${known.mkString(", ")}")(k => s"Did you mean $k?")
    throw InvalidArgument("option name", key, s"There is no such option. $similar")
  }

  private def read[A](name: String, default: A, hint: String)(parse: String => Option[A]): A =
    options.get(name).fold(default) { text =>
      parse(text.trim).getOrElse(throw InvalidArgument(s"option $name", text, hint))
    }

  /** Reads an option that has no default; absent if it is not set. */
  def optional[A](name: String)(read: String => A): Option[A] = if (options.contains(name)) Some(read(name)) else None

  def long(name: String, default: Long, min: Long, max: Long): Long =
    read(name, default, s"It must be an integer from $min to $max")(text =>
      Try(text.toLong).toOption.filter(n => n >= min && n <= max)
    )

  def int(name: String, default: Int, min: Int): Int =
    long(name, default.toLong, min.toLong, Int.MaxValue.toLong).toInt

  def ratio(name: String, default: Double): Double =
    read(name, default, "It must be a number above 0 and at most 1")(text =>
      Try(text.toDouble).toOption.filter(r => r > 0 && r <= 1)
    )

  def flag(name: String, default: Boolean): Boolean =
    read(name, default, "It must be true or false")(text => Try(text.toLowerCase.toBoolean).toOption)

  def choice[A](name: String, all: Seq[A])(nameOf: A => String): Option[A] = options.get(name).map { text =>
    val written = text.trim
    all.find(nameOf(_) == written.toLowerCase)
      .getOrElse(throw Choices.rejected(s"option $name", written, all.map(nameOf)))
  }
}
