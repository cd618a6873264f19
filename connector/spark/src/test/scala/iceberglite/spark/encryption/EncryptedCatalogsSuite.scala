package iceberglite.spark.encryption

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.servers.Servers
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spark.error.StatementError
import iceberglite.spec.IcebergError.ValidationFailed

/**
 * Tests encrypted tables in a REST catalog and in a Hive Metastore. Apache Iceberg 1.12 can decrypt only those in the
 * Metastore.
 */
@Slow
class EncryptedCatalogsSuite extends AnyFunSuite with SharedSession {
  private lazy val warehouse = newDirectory("hive").toUri.toString

  private def settingsOf(kind: String): Seq[(String, String)] =
    if (kind == "rest") Seq("type" -> "rest", "uri" -> Servers.rest.uri)
    else Seq("type" -> "hive", "uri" -> Servers.hive.uri, "warehouse" -> warehouse)

  private def configured(base: SparkSession, kind: String): SparkSession = {
    val session = base.newSession()
    val ours = settingsOf(kind) :+ ("encryption.kms-impl" -> classOf[TestKeys].getName)
    val theirs =
      settingsOf(kind) ++ Seq("encryption.kms-impl" -> classOf[PeerTestKeys].getName, "cache-enabled" -> "false")
    val settings = SharedSession.catalogConf("enc", classOf[SparkCatalog].getName, ours: _*) ++
      SharedSession.catalogConf("encice", SharedSession.PeerCatalog, theirs: _*)
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  private def ids(session: SparkSession, table: String): Seq[Long] = {
    session.catalog.refreshTable(table)
    session.sql(s"SELECT id FROM $table ORDER BY id").collect().map(_.getLong(0)).toSeq
  }

  test("Apache Iceberg and this library read and change each other's encrypted tables in a Hive catalog") {
    val session = configured(SharedSession.liteExtensions, "hive")
    val peer = configured(SharedSession.peerExtensions, "hive")
    session.sql(s"CREATE NAMESPACE IF NOT EXISTS enc.$ns")
    val properties = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'master', " +
      "'write.delete.mode' = 'merge-on-read')"
    session.sql(s"CREATE TABLE enc.$ns.ours (id BIGINT, name STRING) USING iceberg $properties")
    peer.sql(s"CREATE TABLE encice.$ns.theirs (id BIGINT, name STRING) USING iceberg $properties")
    for (table <- Seq("ours", "theirs")) withClue(s"$table: ") {
      val (lite, ice) = (s"enc.$ns.$table", s"encice.$ns.$table")
      session.sql(s"INSERT INTO $lite SELECT id, concat('name-', id) FROM range(20)")
      assert(ids(peer, ice) == (0L until 20L))
      peer.sql(s"INSERT INTO $ice SELECT id, concat('name-', id) FROM range(20, 40)")
      peer.sql(s"DELETE FROM $ice WHERE id % 10 = 1")
      assert(ids(session, lite) == (0L until 40L).filter(_ % 10 != 1))
      session.sql(s"DELETE FROM $lite WHERE id % 10 = 2")
      session.sql(s"UPDATE $lite SET name = 'changed' WHERE id = 33")
      assert(ids(peer, ice) == (0L until 40L).filter(id => id % 10 != 1 && id % 10 != 2))
      assert(peer.sql(s"SELECT name FROM $ice WHERE id = 33").head.getString(0) == "changed")
      session.sql(s"DROP TABLE $lite PURGE")
    }
    session.sql(s"DROP NAMESPACE enc.$ns")
  }

  test("an encrypted table in a REST catalog is read and changed, and Apache Iceberg cannot decrypt it there") {
    val session = configured(SharedSession.liteExtensions, "rest")
    session.sql(s"CREATE NAMESPACE IF NOT EXISTS enc.$ns")
    val (lite, ice) = (s"enc.$ns.t", s"encice.$ns.t")
    val properties = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'master')"
    val unknown = s"CREATE TABLE $lite (id BIGINT) USING iceberg ${properties.replace("'master'", "'unknown'")}"
    intercept[Exception](session.sql(unknown))
    assert(session.sql(s"SHOW TABLES IN enc.$ns").isEmpty, "no table must be created without its master key")
    session.sql(s"CREATE TABLE $lite (id BIGINT, name STRING) USING iceberg $properties")
    session.sql(s"INSERT INTO $lite SELECT id, concat('name-', id) FROM range(20)")
    session.sql(s"ALTER TABLE $lite SET BLOOM INDEX (id)")
    session.sql(s"CALL enc.system.compute_table_stats(table => '$ns.t', bloom_index_only => true)")
    val plan = session.sql(s"CALL enc.system.maintain(table => '$ns.t', dry_run => true)").collect()
    // The server drops the field `key-metadata` of the index file from the table metadata, but keeps the key of the
    // file. Therefore the index can still be read, and is not computed again.
    assert(!plan.exists(s => s.getString(0) == "compute_table_stats" && s.getString(1) == "planned"), plan.mkString)
    assert(session.sql(s"SELECT id FROM $lite WHERE id = 7").count() == 1)
    session.sql(s"DELETE FROM $lite WHERE id < 5")
    assert(ids(session, lite) == (5L until 20L))
    assert(ids(configured(SharedSession.liteExtensions, "rest"), lite) == (5L until 20L))
    // The client of Apache Iceberg 1.12 for REST catalogs has no key management service.
    val peer = configured(SharedSession.peerExtensions, "rest")
    assert(intercept[IllegalArgumentException](ids(peer, ice)).getMessage.startsWith("Cannot decrypt manifest list"))
    session.sql(s"DROP TABLE $lite PURGE")
    session.sql(s"DROP NAMESPACE enc.$ns")
  }

  test("a table is not loaded if the key id in its metadata file differs from the key id that the Metastore stores") {
    val session = configured(SharedSession.liteExtensions, "hive")
    session.sql(s"CREATE NAMESPACE IF NOT EXISTS enc.$ns")
    val t = s"enc.$ns.changed"
    val properties = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'master')"
    session.sql(s"CREATE TABLE $t (id BIGINT) USING iceberg $properties")
    val location = session.sql(s"SELECT file FROM $t.metadata_log_entries ORDER BY timestamp DESC").head.getString(0)
    val file = Paths.get(URI.create(location))
    val original = Files.readAllBytes(file)
    for (replacement <- Seq("some-property", "encryption.key-id\":\"other\",\"x")) {
      val changed = new String(original, UTF_8).replace("encryption.key-id", replacement)
      Files.write(file, changed.getBytes(UTF_8))
      val other = configured(SharedSession.liteExtensions, "hive")
      Seq(s"SELECT * FROM $t", s"INSERT INTO $t VALUES (1L)").foreach { statement =>
        val error = intercept[StatementError](other.sql(statement).collect())
        assert(error.error.isInstanceOf[ValidationFailed])
      }
    }
    Files.write(file, original)
    val other = configured(SharedSession.liteExtensions, "hive")
    other.sql(s"INSERT INTO $t VALUES (1L)")
    assert(ids(other, t) == Seq(1L))
    other.sql(s"DROP TABLE $t PURGE")
    other.sql(s"DROP NAMESPACE enc.$ns")
  }
}
