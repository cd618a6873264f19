package iceberglite.spark.rowlevel

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.Sampling
import iceberglite.servers.Servers
import iceberglite.spark.{HiveSession, SharedSession}

/**
 * Kills the driver's process at different points of `migrate`, with a real Hive Metastore. Afterwards, the original
 * table must have its rows under its own name or under that of the backup, and a second call must complete the
 * migration.
 */
@Slow
class DyingMigrationSuite extends AnyFunSuite with HiveSession {
  private def rowsOf(s: SparkSession, table: String): Seq[String] = {
    s.sql(s"REFRESH TABLE $table")
    s.sql(s"SELECT * FROM $table").collect().map(_.toString).toSeq.sorted
  }

  private def provider(s: SparkSession, table: String): String =
    s.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == "Provider").get.getString(1)

  private def checkAndContinue(s: SparkSession, db: String, statement: String, before: Seq[String]): Unit = {
    val (table, backup) = (s"$db.t", s"$db.t_backup_")
    val survivor = if (s.catalog.tableExists(table)) table else backup
    assert(rowsOf(s, survivor) == before)
    s.sql(statement)
    assert(provider(s, table) == "iceberg" && rowsOf(s, table) == before)
    if (s.catalog.tableExists(backup)) {
      val stored = s.sessionState.catalog.getTableMetadata(TableIdentifier("t_backup_", Some(db)))
      assert(stored.tableType == CatalogTableType.EXTERNAL && rowsOf(s, backup) == before)
      assert(!stored.properties.keys.exists(_.startsWith("iceberg-lite.migrating.")))
      s.sql(s"DROP TABLE $backup")
    }
    assert(!s.catalog.tableExists(backup) && rowsOf(s, table) == before)
    s.sql(s"DELETE FROM $table WHERE id = 0")
    assert(rowsOf(s, table).size == before.size - 1)
    ()
  }

  for (death <- Sampling.half(MigrationDeath.all, "points of a migration at which the driver dies"))
    test(s"no table is lost when the driver dies ${death.name}, and a second call completes the migration") {
      inSession(hive) { s =>
        val db = s"dying_db${SharedSession.counter.incrementAndGet()}"
        s.sql(s"CREATE DATABASE $db LOCATION '${newDirectory(db).toUri}'")
        s.sql(s"CREATE TABLE $db.t (id BIGINT, p INT) USING parquet PARTITIONED BY (p)")
        s.sql(s"INSERT INTO $db.t SELECT id, CAST(id % 3 AS INT) FROM range(0, 30, 1, 1)")
        val before = rowsOf(s, s"$db.t")
        val drops = if (death.event == "DropTablePreEvent") ", drop_backup => true" else ""
        val statement = s"CALL spark_catalog.system.migrate(table => '$db.t'$drops)"
        val program = "iceberglite.spark.rowlevel.DyingMigration"
        val (exit, output) =
          DriverProcess.run(program, Servers.hive.uri, Seq(death.name, statement), newDirectory())
        assert(exit == DyingDriver.KilledExitCode, output)
        checkAndContinue(s, db, statement, before)
        s.sql(s"DROP TABLE $db.t")
        s.sql(s"DROP DATABASE $db")
      }
    }
}
