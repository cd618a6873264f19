package iceberglite.storage

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, FilterFileSystem}
import org.apache.hadoop.security.UserGroupInformation

/**
 * Wraps a file system that was created with a catalog's own settings. Catalogs with equal settings share one wrapped
 * file system. Catalogs with different settings use different ones. [[StorageSettings]] sets this class in Hadoop's
 * configuration, and disables Hadoop's cache of file systems for it. Therefore Hadoop creates an object of this class
 * for each access to a file, and the object uses credentials that are valid at the time of the access.
 */
final class CatalogFileSystem extends FilterFileSystem {

  override def initialize(name: URI, conf: Configuration): Unit = {
    fs = CatalogFileSystem.sharedFileSystem(name, CredentialRenewal.current(conf))
    super.initialize(name, conf)
  }

  /** Does nothing, because other users may share the wrapped file system. */
  override def close(): Unit = ()
}

private[storage] object CatalogFileSystem {
  private case class Key(scheme: String, authority: Option[String], user: UserGroupInformation, settings: String)

  final private class Entry(name: URI, conf: Configuration) {
    lazy val fileSystem: FileSystem = FileSystem.get(name, withoutWrapper(name.getScheme, conf))
  }

  /**
   * Maximum number of cached file systems. The number is limited, because each renewal of vended credentials requires a
   * new file system. An evicted file system can still be used by objects that refer to it.
   */
  private val MaxEntries = 100

  private val Limits = LruCache.Limits.ofCount(MaxEntries)
  private val entries = new LruCache[Key, Entry]

  private def sharedFileSystem(name: URI, conf: Configuration): FileSystem = {
    val settings = conf.get(StorageSettings.Fingerprint, "")
    val key = Key(name.getScheme, Option(name.getAuthority), UserGroupInformation.getCurrentUser, settings)
    entries.getOrAdd(key, 1L, Limits)(new Entry(name, conf)).fileSystem
  }

  /**
   * Returns the wrapped file system, or `fs` itself if it is not a wrapper. Operations that Hadoop's `FileSystem` does
   * not offer need the original file system.
   */
  def unwrapped(fs: FileSystem): FileSystem = fs match {
    case wrapper: CatalogFileSystem => wrapper.getRawFileSystem
    case other => other
  }

  private def withoutWrapper(scheme: String, conf: Configuration): Configuration = {
    val original = new Configuration(conf)
    Option(conf.get(StorageSettings.wrappedClassKey(scheme))) match {
      case Some(name) => original.set(StorageSettings.implKey(scheme), name)
      case None => original.unset(StorageSettings.implKey(scheme))
    }
    original
  }
}
