package iceberglite.spark.rowlevel

import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.{ExternalCatalogEvent, ExternalCatalogEventListener}

import iceberglite.spark.{SharedSession, SparkSessionCatalog, SparkSessionExtensions}

/**
 * A point in a migration at which its driver dies.
 *
 * @param event the name of the class of Spark's event for a change of the session catalog
 * @param occurrence the number of the event, counted from 1
 */
final private[rowlevel] case class MigrationDeath(name: String, event: String, occurrence: Int)

private[rowlevel] object MigrationDeath {
  val all: Seq[MigrationDeath] = Seq(
    MigrationDeath("before the first change", "AlterTablePreEvent", 1),
    MigrationDeath("before the rename", "RenameTablePreEvent", 1),
    MigrationDeath("after the rename", "RenameTableEvent", 1),
    MigrationDeath("after the commit", "AlterTablePreEvent", 2),
    MigrationDeath("before the backup is dropped", "DropTablePreEvent", 1)
  )
}

/** A program that runs a statement, and ends without any clean-up, as after `kill -9`, at a change of the catalog. */
object DyingMigration {

  /**
   * @param args the URI of the Metastore, a directory, and a file with the name of a [[MigrationDeath]] and, in the
   *   next line, a statement
   */
  def main(args: Array[String]): Unit = {
    val Array(uri, scratch, file) = args
    val Seq(name, statement) = Files.readAllLines(Paths.get(file)).asScala
    val death = MigrationDeath.all.find(_.name == name).get
    val occurrences = new AtomicInteger
    val spark = session(uri, scratch)
    spark.sharedState.externalCatalog.addListener(new ExternalCatalogEventListener {
      override def onEvent(event: ExternalCatalogEvent): Unit =
        if (event.getClass.getSimpleName == death.event && occurrences.incrementAndGet() == death.occurrence)
          Runtime.getRuntime.halt(DyingDriver.KilledExitCode)
    })
    spark.sql(statement)
    Runtime.getRuntime.halt(1)
  }

  private def session(uri: String, scratch: String): SparkSession = {
    val catalog = SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName)
    val conf = catalog ++ Map(
      "spark.ui.enabled" -> "false",
      "spark.local.dir" -> scratch,
      "spark.sql.extensions" -> classOf[SparkSessionExtensions].getName,
      "spark.sql.catalogImplementation" -> "hive",
      "hive.metastore.uris" -> uri,
      "spark.sql.warehouse.dir" -> Paths.get(scratch, "warehouse").toUri.toString
    )
    val builder = conf.foldLeft(SparkSession.builder().master("local[2]")) { case (b, (key, value)) =>
      b.config(key, value)
    }
    val spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark
  }
}
