package iceberglite.spark.conf

import java.util.Locale

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.spec.property.ForeignSettings

/**
 * A setting of reads or writes. The value is looked up in the options of the read or write, then in the session's
 * configuration, and then in the properties of the table. The first value that is found is used.
 *
 * @param sessionKey key in the session's configuration, with the prefix `spark.sql.`
 * @param property key of the table property
 * @param default the default value; absent if the default is computed, as `defaultDoc` describes
 * @param expected description of valid values, for messages and documentation
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

  /** Returns the value of the option, the session or the table, if one is set. */
  def get(settings: Settings): Option[A] =
    fromOption(settings).orElse(fromSession(settings)).orElse(fromTable(settings))

  /** Returns the value of the option or the session, if one is set; ignores the table's properties. */
  def requested(settings: Settings): Option[A] = fromOption(settings).orElse(fromSession(settings))

  private def fromOption(settings: Settings): Option[A] =
    Option(settings.options.get(key)).map(read(s"option $key", _))

  private def fromSession(settings: Settings): Option[A] =
    sessionKey.flatMap(k => settings.session(k).map(read(s"configuration $k", _)))

  private def fromTable(settings: Settings): Option[A] =
    property.flatMap(k => settings.properties.get(k).map(read(s"table property $k", _)))

  /** Parses a value. @throws InvalidArgument if the value is invalid; the message names the place where it is set */
  private def read(where: String, text: String): A =
    parse(text).getOrElse(throw InvalidArgument(where, text, expected))

  /** Returns this setting with a key under which it is also looked up in the session's configuration. */
  def inSession(confKey: String): SparkOption[A] =
    new SparkOption(key, Some(confKey), property, default, defaultDoc, expected, doc, parse)

  /** Returns this setting with a key under which it is also looked up in the table's properties. */
  def inTable(propertyKey: String): SparkOption[A] =
    new SparkOption(key, sessionKey, Some(propertyKey), default, defaultDoc, expected, doc, parse)

  override def toString: String = key
}

/** The places where settings are looked up: options, the session's configuration and table properties. */
final case class Settings(
    options: CaseInsensitiveStringMap,
    session: String => Option[String],
    properties: Map[String, String]
) {

  /** Returns the value of a setting, or its default. @throws InvalidArgument if a value is invalid */
  def apply[A](option: SparkOption[A]): A = option.get(this).orElse(option.default).getOrElse(
    throw InvalidArgument(s"option ${option.key}", "(not set)", s"It has no default. ${option.expected}")
  )
}

object Settings {
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): Settings =
    Settings(options, inSession(session, _), properties)

  /**
   * Returns a value of the session's configuration, if it is set. `RuntimeConfig.getOption` alone is slow: it creates
   * an exception for each key that is not set, and each micro-batch of a stream looks for many of them.
   */
  def inSession(session: SparkSession, key: String): Option[String] =
    if (session.sessionState.conf.contains(key)) session.conf.getOption(key) else None
}

object SparkOption {

  def apply[A](key: String, expected: String, doc: String, default: A)(parse: String => Option[A]): SparkOption[A] =
    new SparkOption(key, None, None, Some(default), default.toString, expected, doc, text => parse(text.trim))

  /** Creates a setting whose default is computed, as `defaultDoc` describes. */
  def derived[A](key: String, expected: String, doc: String, defaultDoc: String)(
      parse: String => Option[A]
  ): SparkOption[A] = new SparkOption(key, None, None, None, defaultDoc, expected, doc, text => parse(text.trim))

  /** Creates a setting whose value is a name; spaces in the value are significant. */
  def name(key: String, expected: String, doc: String, defaultDoc: String): SparkOption[String] =
    new SparkOption(key, None, None, None, defaultDoc, expected, doc, Some(_))

  def flag(key: String, doc: String, default: Boolean): SparkOption[Boolean] =
    apply(key, "It must be true or false", doc, default)(boolean)

  def bytes(key: String, doc: String, default: Long): SparkOption[Long] =
    apply(key, "It must be a positive number of bytes", doc, default)(long(_).filter(_ > 0))

  def count(key: String, doc: String, default: Int, max: Int = Int.MaxValue): SparkOption[Int] =
    apply(key, s"It must be 1 to $max", doc, default)(text => Try(text.toInt).toOption.filter(n => n > 0 && n <= max))

  def boolean(text: String): Option[Boolean] = Try(text.toBoolean).toOption

  def long(text: String): Option[Long] = Try(text.toLong).toOption

  /**
   * Rejects unknown options whose names are similar to the names of known options. Also rejects the options of
   * `foreign` that must not be ignored.
   *
   * @param action the action that the options configure: `read` or `write`
   * @param foreign the options of Apache Iceberg that the connector does not support
   * @param silent returns whether an unknown key causes neither an error nor a warning
   * @return warnings about other options that have no effect
   */
  def check(
      action: String,
      options: CaseInsensitiveStringMap,
      knownKeys: Seq[String],
      foreign: ForeignSettings
  )(silent: String => Boolean): Vector[String] = {
    val knownNames = knownKeys.map(_.toLowerCase(Locale.ROOT)).toSet
    options.asScala.toVector.sorted.filterNot { case (key, _) => knownNames(key) }.flatMap { case (key, value) =>
      if (foreign.find(key).isDefined) foreign.warning(key, value)
      else if (silent(key)) None
      else Some(unknown(action, key, knownKeys ++ foreign.all.map(_.key)))
    }
  }

  /** Returns the warning for an unknown option. @throws InvalidArgument if the key is similar to a known key */
  private def unknown(action: String, key: String, knownKeys: Seq[String]): String = {
    knownKeys.find(lettersOf(_) == lettersOf(key)).orElse(Spelling.closest(key, knownKeys)).foreach { near =>
      throw InvalidArgument(s"$action option name", key, s"There is no such option; did you mean $near?")
    }
    s"The $action option $key has no effect on iceberg-lite tables. There is no such option"
  }

  /**
   * Returns the letters and digits of a key in lower case, because keys that differ only in case and in other
   * characters are similar.
   */
  private def lettersOf(key: String): String = key.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)
}
