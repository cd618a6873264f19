package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.scalatest.Suite

import iceberglite.servers.Servers

/** A session whose session catalog uses a real Hive Metastore. */
trait HiveSession extends SharedSession { self: Suite =>

  /** A session on the Spark context of the other suites. The Metastore needs a session with its own shared state. */
  protected lazy val hive: SparkSession = {
    val shared = spark
    SparkSession.clearDefaultSession()
    SparkSession.clearActiveSession()
    val settings = SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName) ++
      SharedSession.catalogConf("ice", SharedSession.PeerCatalog, "type" -> "hive", "cache-enabled" -> "false") ++
      SharedSession.catalogConf("other", classOf[SparkCatalog].getName, "type" -> "hive") ++
      Map(
        "spark.sql.catalogImplementation" -> "hive",
        "hive.metastore.uris" -> Servers.hive.uri,
        "spark.sql.warehouse.dir" -> newDirectory("hive").toUri.toString
      )
    val builder = SparkSession.builder().master("local[2]").withExtensions(new SparkSessionExtensions)
    try settings.foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
    finally {
      SparkSession.setDefaultSession(shared)
      SparkSession.setActiveSession(shared)
    }
  }
}
