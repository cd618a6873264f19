package iceberglite.spark

import java.net.URI
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.servers.Servers

/** Tests that a purge leaves no directory of the table in catalogs that need a server. */
class ServerPurgeSuite extends AnyFunSuite with SharedSession {
  private val catalogs: Seq[(String, () => Seq[(String, String)])] = Seq(
    "rest" -> (() => Seq("uri" -> Servers.rest.uri)),
    "hive" -> (() => Seq("uri" -> Servers.hive.uri, "warehouse" -> newDirectory("hive").toUri.toString))
  )

  private def directoryOf(session: SparkSession, t: String): Path = {
    val manifest = session.sql(s"SELECT path FROM $t.manifests").head().getString(0)
    val path = if (manifest.startsWith("/")) Paths.get(manifest) else Paths.get(URI.create(manifest).getPath)
    path.getParent.getParent
  }

  for ((kind, properties) <- catalogs) test(s"DROP TABLE PURGE leaves no directory of the table ($kind)", Slow) {
    val catalog = s"purging_$kind"
    val settings =
      SharedSession.catalogConf(catalog, classOf[SparkCatalog].getName, ("type" -> kind) +: properties(): _*)
    inSession(SharedSession.liteExtensions.newSession()) { session =>
      settings.foreach { case (key, value) => session.conf.set(key, value) }
      val namespace = s"$catalog.purged_${SharedSession.counter.incrementAndGet()}"
      session.sql(s"CREATE NAMESPACE $namespace")
      for (t <- Seq(s"$namespace.purged", s"$namespace.kept")) {
        session.sql(s"CREATE TABLE $t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p, bucket(2, id))")
        session.sql(s"INSERT INTO $t SELECT id, concat('p', id % 3) FROM range(10)")
        session.sql(s"INSERT OVERWRITE $t VALUES (1, 'x')")
      }
      val (purged, kept) = (directoryOf(session, s"$namespace.purged"), directoryOf(session, s"$namespace.kept"))
      assert(Files.isDirectory(purged.resolve("data")) && purged != kept)
      session.sql(s"DROP TABLE $namespace.purged PURGE")
      assert(!Files.exists(purged))
      assert(session.sql(s"SELECT count(*) FROM $namespace.kept").head().getLong(0) == 1 && Files.isDirectory(kept))
      session.sql(s"DROP TABLE $namespace.kept PURGE")
      session.sql(s"DROP NAMESPACE $namespace")
      ()
    }
  }
}
