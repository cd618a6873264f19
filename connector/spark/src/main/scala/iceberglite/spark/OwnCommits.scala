package iceberglite.spark

import java.util.{Collections, WeakHashMap}

import scala.collection.JavaConverters._

import iceberglite.spark.catalog.TableCache
import iceberglite.table.Table

/**
 * Tells the caches of this JVM of its own commits: a table may have several names, in several catalogs or as a path, and
 * under each of them the next statement sees the commit.
 */
private[spark] object OwnCommits {
  private val caches = Collections.newSetFromMap(new WeakHashMap[TableCache, java.lang.Boolean])

  def join(cache: TableCache): Unit = synchronized {
    caches.add(cache)
    ()
  }

  /**
   * The table was changed, replaced or dropped.
   *
   * @param through what has seen it already
   */
  def announce(table: Table, through: Option[LiveTable]): Unit = table.metadata.uuid.foreach { uuid =>
    everywhere(_.suspect(uuid, through))
  }

  /**
   * A table was dropped, made or renamed under a name. The same name in another catalog of the JVM may be the same
   * table; if not, it is looked at once more than it need be.
   */
  def announce(name: String): Unit = everywhere(_.invalidate(name))

  private def everywhere(tell: TableCache => Unit): Unit = synchronized(caches.asScala.toVector).foreach(tell)
}
