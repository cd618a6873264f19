package iceberglite.spark.encryption

import java.util.concurrent.atomic.AtomicInteger

import org.apache.iceberg.{DataFiles, FileFormat => PeerFormat}
import org.apache.spark.serializer.{JavaSerializer, KryoSerializer}
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.SettingWarnings
import iceberglite.encryption.{FileKey, PeerEncryptedTable, PeerKeys}
import iceberglite.scan.TableScan
import iceberglite.spark.{LoggedWarnings, SharedSession, SparkCatalog}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.table.Table
import iceberglite.table.action.SetPartitionStatistics

/** Tests that statements on encrypted tables read no file without a key, and fail before their tasks run. */
class EncryptedSafeguardStatementsSuite extends AnyFunSuite with EncryptedFixture {
  private def create(format: String, hasKey: Boolean): String = {
    val t = newTable(format, "enc")
    val key = if (hasKey) ", 'encryption.key-id' = 'master'" else ""
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
      s"'write.format.default' = '$format'$key)")
    sql(s"INSERT INTO $t SELECT id, concat('name-', id) FROM range(10)")
    t
  }

  private def loaded(t: String): Table = {
    val Array(catalogName, namespace, table) = t.split('.')
    val catalog = session.sessionState.catalogManager.catalog(catalogName).asInstanceOf[TableCatalog]
    catalog.loadTable(Identifier.of(Array(namespace), table)).asInstanceOf[SparkTable].table
  }

  private def errorOf(statement: String): IcebergError = withClue(statement) {
    Iterator.iterate[Throwable](intercept[Exception](sql(statement).collect()))(_.getCause).takeWhile(_ != null)
      .collectFirst { case e: IcebergError => e }.get
  }

  private def local(path: String): String = path.stripPrefix("file://").stripPrefix("file:")

  test("CREATE TABLE LIKE an encrypted table creates an encrypted table") {
    val source = create("parquet", hasKey = true)
    val copy = newTable("copy", "enc")
    sql(s"CREATE TABLE $copy LIKE $source")
    assert(loaded(copy).properties("encryption.key-id") == "master")
  }

  for (format <- Seq("parquet", "orc", "avro"))
    test(s"a data file that another engine adds without encryption is an error that names the file: $format") {
      val encrypted = create(format, hasKey = true)
      val plain = create(format, hasKey = false)
      val file = TableScan(loaded(plain).tree(), loaded(plain).currentSnapshot, AlwaysTrue, caseSensitive = true).plan()
        .tasks.head.file
      val peer = new PeerEncryptedTable(local(loaded(encrypted).metadataLocation), new PeerKeys(TestKeys.master))
      val added = DataFiles.builder(peer.table.spec).withPath(file.path).withRecordCount(file.recordCount)
        .withFileSizeInBytes(file.fileSizeInBytes).withFormat(PeerFormat.fromString(format)).build()
      peer.table.newAppend().appendFile(added).commit()
      sql(s"REFRESH TABLE $encrypted")
      assert(rows(s"SELECT * FROM $plain").size == 10)
      Seq(s"SELECT * FROM $encrypted", s"UPDATE $encrypted SET name = 'x' WHERE id = 3").foreach { statement =>
        errorOf(statement) match {
          case e: UnreadableFile => assert(e.file == file.path)
          case other => fail(other)
        }
      }
    }

  test("the keys of files in task results can be serialized with Java serialization and Kryo") {
    val table = loaded(create("parquet", hasKey = true))
    val file = TableScan(table.tree(), table.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks.head.file
    val conf = session.sparkContext.getConf
    for (serializer <- Seq(new KryoSerializer(conf), new JavaSerializer(conf))) {
      val instance = serializer.newInstance()
      val copy = instance.deserialize[Vector[ContentFile]](instance.serialize(Vector(file))).head
      assert(FileKey.of(file).isDefined && FileKey.of(copy) == FileKey.of(file))
      val again = instance.deserialize[Vector[ContentFile]](instance.serialize(Vector(copy))).head
      assert(FileKey.of(again) == FileKey.of(file))
    }
  }

  test("a write requests its key before its tasks run") {
    session.udf.register("counted", (id: Long) => { WrittenRows.count.incrementAndGet(); id })
    for (hasKey <- Seq(false, true)) {
      val t = newTable("early", "enc")
      sql(s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
        "'encryption.key-id' = 'master')")
      if (hasKey) sql(s"INSERT INTO $t VALUES (1L)")
      WrittenRows.count.set(0)
      val statement = s"INSERT INTO $t SELECT counted(id) FROM range(10)"
      TestKeys.isDown = true
      try {
        // The key of a table with rows is already in memory.
        if (hasKey) sql(statement).collect() else assert(errorOf(statement).isInstanceOf[StorageFailed])
      } finally TestKeys.isDown = false
      assert((WrittenRows.count.get > 0) == hasKey)
    }
  }

  test("maintenance omits partition statistics, which are not encrypted") {
    val t = newTable("stats", "enc")
    sql(s"CREATE TABLE $t (id BIGINT, part INT) USING iceberg PARTITIONED BY (part) TBLPROPERTIES (" +
      "'format-version' = '3', 'encryption.key-id' = 'master')")
    sql(s"INSERT INTO $t SELECT id, CAST(id % 2 AS INT) FROM range(10)")
    val plain = newTable("plain", "enc")
    sql(s"CREATE TABLE $plain (id BIGINT, part INT) USING iceberg PARTITIONED BY (part) TBLPROPERTIES (" +
      "'format-version' = '3')")
    sql(s"INSERT INTO $plain SELECT id, CAST(id % 2 AS INT) FROM range(10)")
    sql(s"CALL enc.system.compute_partition_stats('${plain.stripPrefix("enc.")}')")
    val file = loaded(plain).metadata.partitionStatistics.head
    val snapshotId = loaded(t).currentSnapshot.get.snapshotId
    val action = new SetPartitionStatistics(file.copy(snapshotId = snapshotId))
    loaded(t).transaction().add(action).commit()
    sql(s"REFRESH TABLE $t")
    sql(s"INSERT INTO $t SELECT id, CAST(id % 2 AS INT) FROM range(10)")
    val steps = sql(s"CALL enc.system.maintain(table => '${t.stripPrefix("enc.")}')").collect()
    assert(steps.nonEmpty && !steps.exists(_.getAs[String]("status") == "failed"), steps.mkString("\n"))
    assert(rows(s"SELECT sum(record_count) FROM $t.partitions").head.getLong(0) == 20L)
  }

  test("a catalog that cannot protect the metadata of encrypted tables logs one warning") {
    val (t, plain) = (newTable("protected", "unprotected"), newTable("plain", "unprotected"))
    SharedSession.catalogConf(
      "unprotected",
      classOf[SparkCatalog].getName,
      "type" -> "hadoop",
      "warehouse" -> newDirectory().toUri.toString,
      "encryption.kms-impl" -> classOf[TestKeys].getName
    ).foreach { case (key, value) => session.conf.set(key, value) }
    sql(s"CREATE NAMESPACE unprotected.$ns")
    def warnings(body: => Unit): Seq[String] =
      LoggedWarnings.of(SettingWarnings.LoggerName)(body).filter(_.contains("metadata files of encrypted tables"))
    assert(warnings {
      sql(s"CREATE TABLE $plain (id BIGINT) USING iceberg")
      sql(s"SELECT * FROM $plain").collect()
    }.isEmpty)
    val ofEncrypted = warnings {
      sql(s"CREATE TABLE $t (id BIGINT) USING iceberg " +
        "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'master')")
      (1 to 2).foreach(_ => sql(s"SELECT * FROM $t").collect())
    }
    assert(ofEncrypted.size == 1 && ofEncrypted.head.startsWith("Catalog unprotected "))
  }
}

private object WrittenRows {
  val count = new AtomicInteger
}
