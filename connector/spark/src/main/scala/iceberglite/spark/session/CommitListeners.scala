package iceberglite.spark.session

import java.util.{Collections, WeakHashMap}

import scala.collection.JavaConverters._

import iceberglite.table.Table

/**
 * Notifies all table caches in this JVM of commits from this JVM. A table may have several names, in several catalogs
 * or as a path. The next statement sees the commit, whichever name it uses.
 */
private[iceberglite] object CommitListeners {
  private val caches = Collections.newSetFromMap(new WeakHashMap[TableCache, java.lang.Boolean])

  def register(cache: TableCache): Unit = synchronized {
    caches.add(cache)
    ()
  }

  /**
   * Announces that a table was changed, replaced or dropped.
   *
   * @param committedBy the shared table that already has the change; absent if no shared table has the change
   */
  def announce(table: Table, committedBy: Option[SharedTable]): Unit = table.metadata.uuid.foreach { uuid =>
    forEachCache(_.onCommit(uuid, committedBy))
  }

  /**
   * Announces that the table with a name was dropped, created or renamed. The same name in another catalog of this JVM
   * may refer to the same table, so the entries of this name are invalidated in all catalogs. If the name refers to
   * another table there, the only effect is that the metadata of that table is checked once more than necessary.
   */
  def announce(name: String): Unit = forEachCache(_.invalidate(name))

  private def forEachCache(action: TableCache => Unit): Unit = synchronized(caches.asScala.toVector).foreach(action)
}
