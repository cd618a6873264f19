package iceberglite.spec.property

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.property.ForeignSetting.{Accepted, Effect, Rejected, Warned}

/**
 * A setting of other Iceberg implementations that this release does not support.
 *
 * @param key the exact key, or a prefix of keys that ends with `*`
 * @param effect what this release does if the setting is used
 * @param reason sentences that state why the setting is not supported, and what to do instead
 * @param harmless values that have no effect, because they request what this release does anyway; case is ignored
 */
final case class ForeignSetting(key: String, effect: Effect, reason: String, harmless: Set[String] = Set.empty) {
  private[property] def isHarmless(value: String): Boolean = harmless.exists(_.equalsIgnoreCase(value.trim))

  private[iceberglite] def matches(configuredKey: String): Boolean =
    if (key.endsWith("*")) configuredKey.startsWith(key.dropRight(1)) else configuredKey == key
}

object ForeignSetting {
  sealed trait Effect

  /**
   * The statement fails, or the catalog cannot be created. Such a setting cannot be ignored. Otherwise the connector
   * would use another identity, leave data unprotected, or read or write other rows than the user expects.
   */
  case object Rejected extends Effect

  /** The setting is ignored. A warning is logged once for each catalog or session. */
  case object Warned extends Effect

  /** The setting is ignored without a warning, because it would not change the behavior of this connector. */
  case object Accepted extends Effect

  /** Returns a rejected setting. @param harmless values, in any case, for which it is accepted */
  def rejected(key: String, reason: String, harmless: String*): ForeignSetting =
    ForeignSetting(key, Rejected, reason, harmless.toSet)

  /** Returns a setting with a warning. @param harmless values, in any case, for which no warning is logged */
  def warned(key: String, reason: String, harmless: String*): ForeignSetting =
    ForeignSetting(key, Warned, reason, harmless.toSet)

  /** Returns a setting that is ignored without a warning. */
  def accepted(key: String, reason: String): ForeignSetting = ForeignSetting(key, Accepted, reason)
}

/**
 * The settings of one kind that this release does not support.
 *
 * @param kind the kind of the settings for messages, such as `write option`
 */
final class ForeignSettings(kind: String, val all: Seq[ForeignSetting]) {

  /**
   * Finds the setting for a key. An exact key takes precedence over a prefix, and a longer prefix over a shorter one.
   */
  def find(key: String): Option[ForeignSetting] =
    all.filter(_.matches(key)).sortBy(s => (s.key.endsWith("*"), -s.key.length)).headOption

  /**
   * Returns the warning for a setting, if there is one. Messages never show values, which may be secrets.
   *
   * @param location the text after the key in messages, such as ` of catalog lite`; empty if `kind` is sufficient
   * @throws Unsupported if the setting must not be ignored
   */
  def warning(key: String, value: String, location: String = ""): Option[String] =
    find(key).filterNot(_.isHarmless(value)).flatMap { setting =>
      setting.effect match {
        case Rejected => throw Unsupported(s"$kind $key$location", setting.reason)
        case Warned => Some(s"The $kind $key$location has no effect. ${setting.reason}")
        case Accepted => None
      }
    }
}
