package iceberglite.catalog

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

/** Warnings about settings, each of them once. */
final class SettingWarnings {
  private val logged = ConcurrentHashMap.newKeySet[String]

  /** @param key of the setting */
  def once(key: String, message: String): Unit = if (logged.add(key)) SettingWarnings.log.warn(message)

  /** A message that is the same each time. */
  def once(message: String): Unit = once(message, message)
}

object SettingWarnings {
  val LoggerName = "iceberglite.settings"

  private val log = LoggerFactory.getLogger(LoggerName)
  private val catalogs = new ConcurrentHashMap[String, SettingWarnings]

  /** Those of a catalog, in all sessions of the program. */
  def ofCatalog(name: String): SettingWarnings = catalogs.computeIfAbsent(name, _ => new SettingWarnings)
}
