package iceberglite.spark.conf

import java.util.Locale

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.Spelling
import iceberglite.spec.ForeignSettings
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * A setting of reads or writes. It is looked up as an option of the read or write, then in the session's configuration,
 * then among the table's properties; the first that is there counts.
 *
 * @param sessionKey with the prefix `spark.sql.`
 * @param property key of the table property
 * @param default absent where the code works it out, as `defaultDoc` tells
 * @param expected what a value must be, for messages and documentation
 */
final class SparkOption[A] private (
    val key: String,
    val sessionKey: Option[String],
    val property: Option[String],
    val default: Option[A],
    val defaultDoc: String,
    val expected: String,
    val doc: String,
    parse: String => Option[A]
) {

  /** Where it is set, if it is set: by whom, and the text. */
  def given(settings: Settings): Option[A] =
    fromOption(settings).orElse(fromSession(settings)).orElse(fromTable(settings))

  /** What the user of this session asks for: the table's properties left aside. */
  def asked(settings: Settings): Option[A] = fromOption(settings).orElse(fromSession(settings))

  private def fromOption(settings: Settings): Option[A] =
    Option(settings.options.get(key)).map(read(s"option $key", _))

  private def fromSession(settings: Settings): Option[A] =
    sessionKey.flatMap(k => settings.session(k).map(read(s"configuration $k", _)))

  private def fromTable(settings: Settings): Option[A] =
    property.flatMap(k => settings.properties.get(k).map(read(s"table property $k", _)))

  /** @throws InvalidArgument that names where the value stands */
  private def read(where: String, text: String): A =
    parse(text).getOrElse(throw InvalidArgument(where, text, expected))

  /** The same setting, found in the session's configuration too. */
  def inSession(confKey: String): SparkOption[A] =
    new SparkOption(key, Some(confKey), property, default, defaultDoc, expected, doc, parse)

  /** The same setting, found among the table's properties too. */
  def inTable(propertyKey: String): SparkOption[A] =
    new SparkOption(key, sessionKey, Some(propertyKey), default, defaultDoc, expected, doc, parse)

  override def toString: String = key
}

/** Where settings are looked up. */
final case class Settings(
    options: CaseInsensitiveStringMap,
    session: String => Option[String],
    properties: Map[String, String]
) {

  /** @throws InvalidArgument for a value that cannot be */
  def apply[A](option: SparkOption[A]): A = option.given(this).orElse(option.default).getOrElse(
    throw InvalidArgument(s"option ${option.key}", "none", s"It has no default. ${option.expected}")
  )
}

object Settings {
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): Settings =
    Settings(options, key => session.conf.getOption(key), properties)
}

object SparkOption {

  def apply[A](key: String, expected: String, doc: String, default: A)(parse: String => Option[A]): SparkOption[A] =
    new SparkOption(key, None, None, Some(default), default.toString, expected, doc, text => parse(text.trim))

  /** A setting whose default depends on the table or the session. */
  def derived[A](key: String, expected: String, doc: String, defaultDoc: String)(
      parse: String => Option[A]
  ): SparkOption[A] = new SparkOption(key, None, None, None, defaultDoc, expected, doc, text => parse(text.trim))

  /** A name, in which spaces count. */
  def name(key: String, expected: String, doc: String, defaultDoc: String): SparkOption[String] =
    new SparkOption(key, None, None, None, defaultDoc, expected, doc, Some(_))

  def flag(key: String, doc: String, default: Boolean): SparkOption[Boolean] =
    apply(key, "It must be true or false", doc, default)(boolean)

  def bytes(key: String, doc: String, default: Long): SparkOption[Long] =
    apply(key, "It must be a positive number of bytes", doc, default)(long(_).filter(_ > 0))

  def count(key: String, doc: String, default: Int, most: Int = Int.MaxValue): SparkOption[Int] =
    apply(key, s"It must be 1 to $most", doc, default)(text => Try(text.toInt).toOption.filter(n => n > 0 && n <= most))

  def boolean(text: String): Option[Boolean] = Try(text.toBoolean).toOption

  def long(text: String): Option[Long] = Try(text.toLong).toOption

  /**
   * Rejects an option that looks like a known one, or may not be ignored.
   *
   * @param action what the options are for: `read` or `write`
   * @param foreign the options of Apache Iceberg that this release does not act on
   * @param silent options that are not warned about
   * @return warnings about other options that have no effect
   */
  def check(
      action: String,
      options: CaseInsensitiveStringMap,
      known: Seq[String],
      foreign: ForeignSettings
  )(silent: String => Boolean): Vector[String] = {
    val names = known.map(_.toLowerCase(Locale.ROOT)).toSet
    options.asScala.toVector.sorted.filterNot { case (key, _) => names(key) }.flatMap { case (key, value) =>
      if (foreign.find(key).isDefined) foreign.warning(key, value)
      else if (silent(key)) None
      else Some(unknown(action, key, known ++ foreign.all.map(_.key)))
    }
  }

  /** @throws InvalidArgument the key is near to one that there is */
  private def unknown(action: String, key: String, known: Seq[String]): String = {
    known.find(lettersOf(_) == lettersOf(key)).orElse(Spelling.closest(key, known)).foreach { near =>
      throw InvalidArgument(s"$action option", key, s"There is no such option; did you mean $near?")
    }
    s"The $action option $key has no effect on tables of iceberg-lite. There is no such option"
  }

  /** Without the dashes and capitals in which option names differ. */
  private def lettersOf(key: String): String = key.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)
}
