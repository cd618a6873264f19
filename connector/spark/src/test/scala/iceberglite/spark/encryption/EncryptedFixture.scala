package iceberglite.spark.encryption

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.scalatest.Suite

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession

/** A suite that runs its statements in the [[EncryptedSession]], with a namespace in the catalog `enc`. */
trait EncryptedFixture extends SharedSession { self: Suite =>
  protected lazy val session: SparkSession = EncryptedSession.session

  override protected def sql(statement: String): DataFrame = session.sql(statement)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    sql(s"CREATE NAMESPACE IF NOT EXISTS enc.$ns")
  }

  protected def inCatalog(t: String): String = t.stripPrefix("enc.")

  protected def directory(t: String): Path = EncryptedSession.warehouse.resolve(ns).resolve(t.split('.').last)

  /** Checks that each file of a table except its metadata files is encrypted. */
  protected def assertEncrypted(t: String): Unit = FilesBelow.withoutHints(directory(t)).foreach { file =>
    val name = file.getFileName.toString
    val magic = new String(Files.readAllBytes(file).take(4), ISO_8859_1)
    val isPlain = name.endsWith(".metadata.json") || name.startsWith("version-hint") || name.endsWith(".crc")
    assert(isPlain || Set("PARE", "AGS1")(magic), s"$file begins with $magic")
  }
}
