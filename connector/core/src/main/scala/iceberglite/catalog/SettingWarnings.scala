package iceberglite.catalog

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

/** Logs each warning about a setting only once. */
final class SettingWarnings {
  private val logged = ConcurrentHashMap.newKeySet[String]

  /** Logs the first message for a key, and ignores later messages for this key. @param key the key of the setting */
  def once(key: String, message: String): Unit = if (logged.add(key)) SettingWarnings.log.warn(message)

  /** Logs a message once. */
  def once(message: String): Unit = once(message, message)
}

object SettingWarnings {
  val LoggerName = "iceberglite.settings"

  private val log = LoggerFactory.getLogger(LoggerName)
  private val catalogs = new ConcurrentHashMap[String, SettingWarnings]

  /** Returns the logger of the warnings for a catalog. All sessions of the process share it. */
  def ofCatalog(name: String): SettingWarnings = catalogs.computeIfAbsent(name, _ => new SettingWarnings)
}
