package iceberglite.spark.encryption

import java.util.Collections

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.data.{GenericFileWriterFactory, GenericRecord}
import org.apache.iceberg.io.OutputFileFactory
import org.apache.iceberg.{FileFormat, Table}
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{col, lit}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.MetadataRules

/** Exchanges encrypted equality deletes with Apache Iceberg, which writes them through its Java library. */
class EncryptedDeletesPeerSuite extends AnyFunSuite with EncryptedFixture {

  private lazy val catalog: EncryptingPeerCatalog = {
    val created = new EncryptingPeerCatalog
    created.setConf(new Configuration)
    created.initialize("encpeer", Collections.singletonMap("warehouse", EncryptedSession.warehouse.toUri.toString))
    created
  }

  private def create(format: String): String = {
    val t = newTable("deletes", "enc")
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
      s"'encryption.key-id' = 'master', 'write.format.default' = '$format')")
    sql(s"INSERT INTO $t SELECT id, concat('name-', id) FROM range(20)")
    t
  }

  private def ofPeer(t: String): Seq[Row] = EncryptedSession.peerSession
    .sql(s"SELECT * FROM encice${t.stripPrefix("enc")} ORDER BY id").collect().toSeq

  private def contents(t: String): Seq[Row] = rows(s"SELECT * FROM $t ORDER BY id")

  /** Deletes rows with an encrypted equality delete file of Apache Iceberg. */
  private def deleteByPeer(t: String, format: FileFormat, ids: Long*): Unit = {
    val table: Table = catalog.loadTable(TableIdentifier.of(ns, t.split('.').last))
    val key = table.schema.select("id")
    val factory = new GenericFileWriterFactory.Builder(table).deleteFileFormat(format)
      .equalityFieldIds(Array(key.findField("id").fieldId)).equalityDeleteRowSchema(key).build()
    val output = OutputFileFactory.builderFor(table, 1, 1L).format(format).build().newOutputFile()
    val writer = factory.newEqualityDeleteWriter(output, table.spec, null)
    try ids.foreach { id =>
        val row = GenericRecord.create(key)
        row.set(0, id)
        writer.write(row)
      }
    finally writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile).commit()
  }

  for (format <- Seq("parquet", "avro"))
    test(
      s"encrypted equality deletes in $format are exchanged with Apache Iceberg",
      MetadataRules.keyMetadata +: Sampling.slowInSomeRunsUnless(format == "parquet"): _*
    ) {
      val t = create(format)
      session.range(15, 25).select(col("id"), lit("upserted").as("name")).writeTo(t).option("upsert-keys", "id")
        .append()
      val files = s"SELECT content, lower(file_format) FROM $t.delete_files"
      assert(rows(files) == Seq(Row(2, format)))
      assert(ofPeer(t) == contents(t) && contents(t).size == 25)
      deleteByPeer(t, FileFormat.fromString(format), 3L, 17L, 99L)
      sql(s"REFRESH TABLE $t")
      assert(rows(files) == Seq.fill(2)(Row(2, format)))
      assertEncrypted(t)
      val expected = (0L until 25L).diff(Seq(3L, 17L))
      assert(contents(t).map(_.getLong(0)) == expected && ofPeer(t) == contents(t))
      assert(rows(s"SELECT count(*) FROM $t WHERE name = 'upserted'") == Seq(Row(9L)))
      sql(s"CALL enc.system.convert_equality_deletes('${inCatalog(t)}')")
      assert(rows(s"SELECT DISTINCT content, file_format FROM $t.delete_files") == Seq(Row(1, "PUFFIN")))
      assert(contents(t).map(_.getLong(0)) == expected && ofPeer(t) == contents(t))
      assertEncrypted(t)
    }
}
