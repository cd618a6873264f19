package iceberglite.spark.encryption

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.security.KeyStore
import javax.crypto.spec.SecretKeySpec

import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{FilesBelow, Sampling}
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.Unsupported

/** Tests statements on encrypted tables, and exchanges encrypted tables with Apache Iceberg. */
class EncryptedStatementsSuite extends AnyFunSuite with EncryptedFixture {
  private def create(
      format: String,
      mode: String = "copy-on-write",
      more: String = "",
      version: Int = 3
  ): String = {
    val t = newTable(format, "enc")
    sql(
      s"CREATE TABLE $t (id BIGINT, name STRING, part INT) USING iceberg PARTITIONED BY (part) TBLPROPERTIES (" +
        s"'format-version' = '$version', 'encryption.key-id' = 'master', 'write.format.default' = '$format', " +
        s"'write.delete.mode' = '$mode', 'write.update.mode' = '$mode', 'write.merge.mode' = '$mode'$more)"
    )
    t
  }

  /** Returns the connector's error of a statement that fails. */
  private def errorOf(statement: String): IcebergError = withClue(statement) {
    Iterator.iterate[Throwable](intercept[Exception](sql(statement).collect()))(_.getCause).takeWhile(_ != null)
      .collectFirst { case e: IcebergError => e }.get
  }

  private def insert(t: String, from: Int, to: Int): Unit =
    sql(s"INSERT INTO $t SELECT id, concat('name-', id), CAST(id % 2 AS INT) FROM range($from, $to)")

  private def ids(t: String): Seq[Long] = rows(s"SELECT id FROM $t ORDER BY id").map(_.getLong(0))

  for {
    (format, version) <- Seq("parquet" -> 3, "orc" -> 3, "avro" -> 3, "parquet" -> 4)
    mode <- Seq("copy-on-write", "merge-on-read")
  }
    test(
      s"statements on an encrypted table have the expected results: version $version, $format, $mode",
      Sampling.slowUnless(format == "parquet" && version == 3 && mode == "merge-on-read"): _*
    ) {
      val t = create(format, mode, version = version)
      insert(t, 0, 100)
      assert(ids(t) == (0L until 100L))
      assert(rows(s"SELECT name FROM $t WHERE id = 17") == Seq(Row("name-17")))
      assert(rows(s"SELECT count(*), min(id), max(id) FROM $t WHERE part = 1") == Seq(Row(50L, 1L, 99L)))
      sql(s"DELETE FROM $t WHERE id % 10 = 3")
      sql(s"UPDATE $t SET name = 'changed' WHERE id % 10 = 4")
      sql(
        s"MERGE INTO $t USING (SELECT id FROM range(95, 105)) s ON $t.id = s.id WHEN MATCHED THEN UPDATE SET " +
          "name = 'merged' WHEN NOT MATCHED THEN INSERT (id, name, part) VALUES (s.id, 'new', 0)"
      )
      val expected = (0L until 105L).filter(id => id % 10 != 3 || id > 100)
      assert(ids(t) == expected)
      assert(rows(s"SELECT name, count(*) FROM $t WHERE name NOT LIKE 'name%' GROUP BY name ORDER BY name") ==
        Seq(Row("changed", 10L), Row("merged", 5L), Row("new", 5L)))
      assertEncrypted(t)
      if (mode == "merge-on-read") assert(rows(s"SELECT count(*) FROM $t.delete_files").head.getLong(0) > 0)
      sql(
        s"CALL enc.system.rewrite_data_files(table => '${inCatalog(t)}', options => map('rewrite-all', 'true'))"
      )
      sql(s"CALL enc.system.rewrite_manifests('${inCatalog(t)}')")
      assert(ids(t) == expected)
      assertEncrypted(t)
      sql(
        s"CALL enc.system.expire_snapshots(table => '${inCatalog(t)}', older_than => now(), retain_last => 1)"
      )
      assert(ids(t) == expected)
      val removed = sql(
        s"CALL enc.system.remove_orphan_files(table => '${inCatalog(t)}', dry_run => true)"
      ).collect()
      assert(removed.isEmpty && ids(t) == expected)
    }

  test("upserts write encrypted equality deletes, and their conversion writes encrypted deletion vectors") {
    val t = create("parquet")
    insert(t, 0, 20)
    session.range(10, 30).select(col("id"), lit("upserted").as("name"), (col("id") % 2).cast("int").as("part"))
      .writeTo(t).option("upsert-keys", "id,part").append()
    assert(ids(t) == (0L until 30L))
    assert(rows(s"SELECT count(*) FROM $t WHERE name = 'upserted'") == Seq(Row(20L)))
    assertEncrypted(t)
    sql(s"CALL enc.system.convert_equality_deletes('${inCatalog(t)}')")
    assert(ids(t) == (0L until 30L) && rows(s"SELECT count(*) FROM $t WHERE name = 'upserted'") == Seq(Row(20L)))
    assert(rows(s"SELECT DISTINCT content, file_format FROM $t.delete_files") == Seq(Row(1, "PUFFIN")))
    assertEncrypted(t)
  }

  test("the keys of files have the length that the table property requests") {
    for (length <- Seq(16, 24, 32)) {
      val t = create("parquet", more = s", 'encryption.data-key-length' = '$length'")
      insert(t, 0, 10)
      val files = EncryptedSession.keysOf(t)
      assert(files.size == 2 && files.forall(_.key.length == length))
      assert(ids(t) == (0L until 10L))
    }
  }

  test("tasks plan scans of encrypted tables without the key management service", Slow) {
    val modes = ", 'read.data-planning-mode' = 'distributed', 'read.delete-planning-mode' = 'distributed'"
    for (version <- Seq(3, 4)) {
      val t = create("parquet", "merge-on-read", modes, version)
      (0 until 50 by 10).foreach(from => insert(t, from, from + 10))
      sql(s"DELETE FROM $t WHERE id % 10 = 1")
      assert(ids(t) == (0L until 50L).filter(_ % 10 != 1))
      assert(rows(s"SELECT name FROM $t WHERE id = 42") == Seq(Row("name-42")))
    }
  }

  test("streams read from and write to encrypted tables", Slow) {
    val Seq(source, target) = Seq.fill(2)(create("parquet"))
    insert(source, 0, 10)
    def run(): Unit = session.readStream.table(source).writeStream.option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow).toTable(target).awaitTermination()
    lazy val checkpoint = newDirectory().toString
    run()
    insert(source, 10, 20)
    run()
    assert(ids(target) == (0L until 20L))
    assertEncrypted(target)
  }

  test("changes, old snapshots and metadata tables of an encrypted table are read, and no key is shown", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = create("parquet", mode)
      insert(t, 0, 10)
      val first = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0)
      sql(s"DELETE FROM $t WHERE id = 3")
      assert(rows(s"SELECT count(*) FROM $t VERSION AS OF $first") == Seq(Row(10L)))
      sql(s"CALL enc.system.create_changelog_view(table => '${inCatalog(t)}', changelog_view => 'seen')")
      assert(rows("SELECT id FROM seen WHERE _change_type = 'DELETE'") == Seq(Row(3L)))
      Seq(
        "files",
        "data_files",
        "delete_files",
        "entries",
        "manifests",
        "all_files",
        "all_manifests",
        "partitions",
        "history",
        "refs",
        "position_deletes",
        "all_entries"
      ).foreach { table =>
        sql(s"SELECT * FROM $t.$table").collect()
      }
      Seq("files", "all_files", "delete_files", "all_manifests").foreach { table =>
        assert(rows(s"SELECT key_metadata FROM $t.$table WHERE key_metadata IS NOT NULL").isEmpty, table)
      }
      assert(rows(s"SELECT data_file.key_metadata FROM $t.entries WHERE data_file.key_metadata IS NOT NULL").isEmpty)
      if (mode == "merge-on-read") assert(rows(s"SELECT count(*) FROM $t.position_deletes") == Seq(Row(1L)))
    }
  }

  test("operations that cannot encrypt their files are rejected, and write nothing") {
    val t = create("parquet")
    insert(t, 0, 10)
    val name = inCatalog(t)
    val plain = newTable("plain", "enc")
    sql(s"CREATE TABLE $plain (id BIGINT, name STRING, part INT) USING iceberg PARTITIONED BY (part)")
    insert(plain, 0, 5)
    val before = FilesBelow.withoutHints(directory(t))
    Seq(
      s"CALL enc.system.compute_partition_stats(table => '$name')",
      s"CALL enc.system.clone('$name', '$ns.copy')",
      s"CALL enc.system.rewrite_table_path('$name', '${directory(t)}', '/x')",
      s"CALL enc.system.add_files(table => '$name', source_table => '`parquet`.`${directory(plain)}/data`')"
    ).foreach { statement =>
      errorOf(statement) match {
        case Unsupported(what, _, _) => assert(what.contains("the encrypted table at"), statement)
        case other => fail(statement, other)
      }
    }
    assert(FilesBelow.withoutHints(directory(t)) == before)
    assert(ids(t) == (0L until 10L))
  }

  test("statistics and the Bloom index of an encrypted table are encrypted, and are used", Slow) {
    val t = create("parquet")
    insert(t, 0, 10)
    insert(t, 10, 20)
    sql(s"ALTER TABLE $t SET BLOOM INDEX (name)")
    sql(s"CALL enc.system.compute_table_stats(table => '${inCatalog(t)}')")
    assertEncrypted(t)
    assert(FilesBelow.withoutHints(directory(t)).exists(_.toString.endsWith(".stats")))
    assert(rows(s"SELECT id FROM $t WHERE name = 'name-13'") == Seq(Row(13L)))
    def filesToRead(name: String): Option[String] = {
      val plan = sql(s"EXPLAIN SELECT id FROM $t WHERE name = '$name'").head.getString(0)
      """files=\d+ of \d+""".r.findFirstIn(plan)
    }
    assert(filesToRead("name-13").contains("files=1 of 4") && filesToRead("name-99").contains("files=0 of 4"))
    sql(s"CALL enc.system.maintain(table => '${inCatalog(t)}')").collect()
    assertEncrypted(t)
    assert(ids(t) == (0L until 20L))
  }

  test("a catalog without the key, or whose key management service fails, reads and writes nothing") {
    val t = create("parquet")
    insert(t, 0, 10)
    val other = "nokms" + t.stripPrefix("enc")
    Seq(s"SELECT * FROM $other", s"INSERT INTO $other VALUES (1L, 'x', 1)", s"DELETE FROM $other").foreach {
      statement =>
        val error = intercept[Exception](sql(statement).collect())
        assert(error.getMessage.contains("encryption.kms-"), s"$statement: ${error.getMessage}")
    }
  }

  private def dataFiles(t: String): Seq[Path] =
    FilesBelow.of(directory(t)).toSeq.filter(f => f.toString.contains("/data/") && !f.toString.endsWith(".crc"))

  for (format <- Seq("parquet", "orc", "avro"))
    test(
      s"damaged, truncated and swapped files cause one error that names the file: $format",
      Sampling.slowUnless(format == "parquet"): _*
    ) {
      val t = create(format)
      insert(t, 0, 1000)
      insert(t, 1000, 2000)
      val files = dataFiles(t)
      assert(files.size == 4)
      val original = files.map(file => file -> Files.readAllBytes(file)).toMap
      def check(changes: Map[Path, Array[Byte]]): Unit = {
        changes.foreach { case (file, bytes) => Files.write(file, bytes) }
        val error = intercept[SparkException](sql(s"SELECT * FROM $t WHERE name IS NOT NULL").collect())
        val texts =
          Iterator.iterate[Throwable](error)(_.getCause).take(10).takeWhile(_ != null).map(_.toString).toVector
        assert(texts.exists(text => changes.keys.exists(file => text.contains(file.getFileName.toString))), texts)
        assert(!texts.exists(_.contains("name-")), texts)
        // An executor whose task fails with a fatal error among the causes ends itself.
        assert(!texts.exists(_.contains("java.lang.OutOfMemoryError")), texts)
        changes.keys.foreach(file => Files.write(file, original(file)))
      }
      val Seq(a, b) = files.take(2)
      val middle = original(a).clone
      middle(middle.length / 3) = (middle(middle.length / 3) ^ 4).toByte
      check(Map(a -> middle))
      check(Map(a -> original(a).dropRight(100)))
      check(Map(a -> original(b), b -> original(a)))
      // In a Parquet file, this is the length of the first page header. Parquet's library allocates an array for it.
      check(Map(a -> original(a).patch(4, Array[Byte](-1, -1, -1, 127), 4)))
      assert(ids(t) == (0L until 2000L))
    }

  test("created and replaced tables, branches and overwrites are encrypted", Slow) {
    val t = create("parquet")
    insert(t, 0, 10)
    val copy = newTable("ctas", "enc")
    val properties = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'other')"
    sql(s"CREATE TABLE $copy USING iceberg $properties AS SELECT * FROM $t")
    assert(ids(copy) == (0L until 10L))
    sql(s"CREATE OR REPLACE TABLE $copy USING iceberg $properties AS SELECT * FROM $t WHERE id < 5")
    assert(ids(copy) == (0L until 5L))
    sql(s"INSERT OVERWRITE $copy SELECT * FROM $t WHERE id > 5")
    sql(s"ALTER TABLE $copy CREATE BRANCH b")
    sql(s"INSERT INTO $copy.branch_b VALUES (77L, 'branch', 1)")
    assert(rows(s"SELECT count(*) FROM $copy VERSION AS OF 'b'") == Seq(Row(5L)))
    sql(s"CALL enc.system.fast_forward('${inCatalog(copy)}', 'main', 'b')")
    assert(ids(copy) == Seq(6L, 7L, 8L, 9L, 77L))
    assertEncrypted(copy)
    val before = FilesBelow.withoutHints(directory(copy))
    val plain =
      s"CREATE OR REPLACE TABLE $copy USING iceberg TBLPROPERTIES ('format-version' = '3') AS SELECT * FROM $t"
    val other = plain.replace("'3'", "'3', 'encryption.key-id' = 'master'")
    assert(errorOf(other).toString.contains("encryption.key-id"))
    assert(ids(copy) == Seq(6L, 7L, 8L, 9L, 77L))
    // Like in Apache Iceberg, a replaced table keeps its properties.
    sql(plain)
    assert(ids(copy) == ids(t) && FilesBelow.withoutHints(directory(copy)) != before)
    assertEncrypted(copy)
  }

  test("a key store holds the master key; a failing service and a missing key are errors without a write") {
    val store = newDirectory().resolve("keys.p12")
    val password = newDirectory().resolve("password")
    Files.write(password, "secret-of-store".getBytes(ISO_8859_1))
    val keys = KeyStore.getInstance("PKCS12")
    keys.load(null, null)
    val protection = new KeyStore.PasswordProtection("secret-of-store".toCharArray)
    keys.setEntry("main", new KeyStore.SecretKeyEntry(new SecretKeySpec(new Array[Byte](32), "AES")), protection)
    val out = Files.newOutputStream(store)
    keys.store(out, "secret-of-store".toCharArray)
    out.close()
    val settings = Seq(
      "type" -> "hadoop",
      "warehouse" -> newDirectory().toUri.toString,
      "encryption.kms-type" -> "keystore",
      "encryption.keystore.path" -> store.toString,
      "encryption.keystore.password-file" -> password.toString
    )
    SharedSession.catalogConf("stored", classOf[SparkCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    sql("CREATE NAMESPACE stored.db")
    val properties = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'main')"
    sql(s"CREATE TABLE stored.db.t (id BIGINT) USING iceberg $properties")
    sql("INSERT INTO stored.db.t SELECT id FROM range(10)")
    sql("DELETE FROM stored.db.t WHERE id = 1")
    assert(rows("SELECT count(*) FROM stored.db.t") == Seq(Row(9L)))
    val unknown = "TBLPROPERTIES ('format-version' = '3', 'encryption.key-id' = 'unknown')"
    assert(errorOf(s"CREATE TABLE stored.db.u (id BIGINT) USING iceberg $unknown").toString.contains("unknown"))
    val t = create("parquet")
    TestKeys.isDown = true
    try {
      assert(errorOf(s"INSERT INTO $t VALUES (1L, 'x', 1)").toString.contains("key server does not answer"))
      assert(dataFiles(t).isEmpty)
    } finally TestKeys.isDown = false
  }

  test("Apache Iceberg reads and changes an encrypted table of this library, and the reverse", Slow) {
    val peer = EncryptedSession.peerSession
    for (format <- Seq("parquet", "avro"); mode <- Seq("copy-on-write", "merge-on-read"))
      withClue(s"$format, $mode: ") {
        val ours = create(format, mode)
        insert(ours, 0, 50)
        sql(s"DELETE FROM $ours WHERE id % 10 = 1")
        val theirs = "encice" + ours.stripPrefix("enc")
        def peerIds: Seq[Long] = peer.sql(s"SELECT id FROM $theirs ORDER BY id").collect().map(_.getLong(0)).toSeq
        assert(peerIds == ids(ours))
        peer.sql(s"INSERT INTO $theirs SELECT id, concat('peer-', id), CAST(id % 2 AS INT) FROM range(50, 70)")
        peer.sql(s"DELETE FROM $theirs WHERE id % 10 = 2")
        sql(s"REFRESH TABLE $ours")
        assert(ids(ours) == (0L until 70L).filter(id => (id % 10 != 1 || id > 50) && id % 10 != 2))
        assert(rows(s"SELECT name FROM $ours WHERE id = 55") == Seq(Row("peer-55")))
        sql(s"UPDATE $ours SET name = 'both' WHERE id >= 60")
        assert(peer.sql(s"SELECT count(*) FROM $theirs WHERE name = 'both'").collect().toSeq == Seq(Row(9L)))
        assertEncrypted(ours)
      }
  }

  test("Apache Iceberg cannot read encrypted ORC files") {
    val t = create("orc")
    insert(t, 0, 10)
    val read = s"SELECT * FROM encice${t.stripPrefix("enc")}"
    val error = intercept[SparkException](EncryptedSession.peerSession.sql(read).collect())
    assert(error.getCause.getMessage == "Native ORC encryption is not supported")
  }
}
