package iceberglite.spec

import java.util.Locale

import iceberglite.spec.ForeignSetting.{Accepted, Effect, Rejected, Warned}
import iceberglite.spec.IcebergError.Unsupported

/**
 * A setting of other Iceberg implementations that this release does not act on.
 *
 * @param key the exact key, or the beginning of keys, which ends with `*`
 * @param effect what happens where it is set
 * @param reason why it has no effect, and what to do instead, as a sentence
 * @param harmless values, in lower case, that ask for what happens anyway
 */
final case class ForeignSetting(key: String, effect: Effect, reason: String, harmless: Set[String] = Set.empty) {
  private[spec] def matches(given: String): Boolean =
    if (key.endsWith("*")) given.startsWith(key.dropRight(1)) else given == key
}

object ForeignSetting {
  sealed trait Effect

  /** To ignore it would change whose rights are used, or what is protected, or which rows are read or written. */
  case object Rejected extends Effect

  /** A line in the log, once for each catalog or session. */
  case object Warned extends Effect

  /** Nothing happens: by design, the setting can make no difference here. */
  case object Accepted extends Effect

  def rejected(key: String, reason: String, harmless: String*): ForeignSetting =
    ForeignSetting(key, Rejected, reason, harmless.toSet)

  def warned(key: String, reason: String, harmless: String*): ForeignSetting =
    ForeignSetting(key, Warned, reason, harmless.toSet)

  def accepted(key: String, reason: String): ForeignSetting = ForeignSetting(key, Accepted, reason)
}

/**
 * The settings of one kind that this release does not act on.
 *
 * @param kind for messages, such as `write option`
 */
final class ForeignSettings(kind: String, val all: Seq[ForeignSetting]) {

  /** The setting for a key; an exact key comes before a beginning, a longer beginning before a shorter one. */
  def find(key: String): Option[ForeignSetting] =
    all.filter(_.matches(key)).sortBy(s => (s.key.endsWith("*"), -s.key.length)).headOption

  /**
   * The warning that a setting deserves, if any. Messages never show values, which may be secrets.
   *
   * @param where for messages, such as ` of catalog lite`; empty where the kind says it
   * @throws Unsupported for a setting that may not be ignored
   */
  def warning(key: String, value: String, where: String = ""): Option[String] =
    find(key).filterNot(_.harmless(value.trim.toLowerCase(Locale.ROOT))).flatMap { setting =>
      setting.effect match {
        case Rejected => throw Unsupported(s"$kind $key$where", setting.reason)
        case Warned => Some(s"The $kind $key$where has no effect. ${setting.reason}")
        case Accepted => None
      }
    }
}
