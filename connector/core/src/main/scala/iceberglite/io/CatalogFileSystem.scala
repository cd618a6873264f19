package iceberglite.io

import java.net.URI
import java.util.{LinkedHashMap, Map => JavaMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, FilterFileSystem}
import org.apache.hadoop.security.UserGroupInformation

/**
 * Stands before a file system that was made with a catalog's own settings, so that all who come with the same settings
 * share one, and nobody gets that of another catalog. Hadoop makes it by [[StorageSettings]]' configuration.
 */
final class CatalogFileSystem extends FilterFileSystem {

  override def initialize(name: URI, conf: Configuration): Unit = {
    fs = CatalogFileSystem.shared(name, conf)
    super.initialize(name, conf)
  }

  /** Others still use what is behind it. */
  override def close(): Unit = ()
}

private[io] object CatalogFileSystem {
  private case class Key(scheme: String, authority: Option[String], user: UserGroupInformation, settings: String)

  final private class Entry(name: URI, conf: Configuration) {
    lazy val system: FileSystem = FileSystem.get(name, behind(name.getScheme, conf))
  }

  /** Credentials that are vended for an hour make new ones all the time; an old one goes when its last reader does. */
  private val Kept = 100

  private val entries = new LinkedHashMap[Key, Entry](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[Key, Entry]): Boolean = size > Kept
  }

  private def shared(name: URI, conf: Configuration): FileSystem = {
    val settings = conf.get(StorageSettings.Fingerprint, "")
    val key = Key(name.getScheme, Option(name.getAuthority), UserGroupInformation.getCurrentUser, settings)
    entries.synchronized(entries.computeIfAbsent(key, _ => new Entry(name, conf))).system
  }

  /** The file system that does the work, for what Hadoop's interface does not offer. */
  def unwrapped(fs: FileSystem): FileSystem = fs match {
    case apart: CatalogFileSystem => apart.getRawFileSystem
    case other => other
  }

  private def behind(scheme: String, conf: Configuration): Configuration = {
    val plain = new Configuration(conf)
    Option(conf.get(StorageSettings.classBehind(scheme))) match {
      case Some(name) => plain.set(StorageSettings.implOf(scheme), name)
      case None => plain.unset(StorageSettings.implOf(scheme))
    }
    plain
  }
}
