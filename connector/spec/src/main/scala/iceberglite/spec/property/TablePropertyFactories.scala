package iceberglite.spec.property

import scala.util.Try

/** Creates table properties of common forms. */
private[property] trait TablePropertyFactories {

  private[property] def property[A](
      key: String,
      default: String,
      expected: String,
      doc: String,
      parse: String => Option[A]
  ) = {
    lazy val self: TableProperty[A] = new TableProperty[A](key, Some(default), expected, doc, parse, self.read(default))
    self
  }

  private[property] def optional[A](key: String, expected: String, doc: String, parse: String => Option[A]) =
    new TableProperty[Option[A]](key, None, expected, doc, text => parse(text).map(Some(_)), None)

  protected def metricsMode(key: String) = property(
    key,
    "truncate(16)",
    "It must be none, counts, truncate(<length>) or full",
    "Metrics to store for a column: none, only counts (counts), or counts and bounds (full, truncate); truncate " +
      "shortens the bounds of strings and binaries to a length",
    MetricsMode.parse
  )

  /** Creates a property with a fixed list of values. @param values all members, in the order of messages */
  private[property] def memberOf[A <: NamedValue](key: String, default: A, doc: String, values: Seq[A]) =
    property(key, default.name, NamedValue.expected(values), doc, NamedValue.parse(values, _))

  private[property] def flag(key: String, default: Boolean, doc: String) =
    property(key, default.toString, "It must be true or false", doc, text => Try(text.toBoolean).toOption)

  private[property] def size(key: String, default: Long, doc: String) =
    property(key, default.toString, "It must be a positive number of bytes", doc, long(_).filter(_ > 0))

  protected def millis(key: String, default: Long, doc: String) =
    property(key, default.toString, "It must be 0 or more milliseconds", doc, long(_).filter(_ >= 0))

  protected def count(key: String, default: Int, doc: String) =
    property(key, default.toString, "It must be 0 or more", doc, int(_).filter(_ >= 0))

  private[property] def positiveInt(key: String, default: Int, doc: String) =
    property(key, default.toString, s"It must be 1 to ${Int.MaxValue}", doc, int(_).filter(_ > 0))

  protected def int(text: String): Option[Int] = Try(text.toInt).toOption

  protected def long(text: String): Option[Long] = Try(text.toLong).toOption
}
