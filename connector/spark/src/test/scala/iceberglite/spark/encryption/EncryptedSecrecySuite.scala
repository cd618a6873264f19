package iceberglite.spark.encryption

import java.io.{PrintWriter, StringWriter}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.util.Base64

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.execution.{CodegenMode, CostMode, ExtendedMode, FormattedMode, SimpleMode}
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{FilesBelow, MoreRoundsInSlowTierTag, Sampling}

/** Looks for values and keys of an encrypted table in its files, in the log, in plans, and in Spark's event log. */
class EncryptedSecrecySuite extends AnyFunSuite with EncryptedFixture {

  /** The beginning of all values. Statements and their plans do not contain it, because two functions create it. */
  private val Marker = "GeheimnisABC"

  private val texts = new VisibleTexts

  private def traceOf(e: Throwable): String = {
    val text = new StringWriter
    e.printStackTrace(new PrintWriter(text))
    text.toString
  }

  private def run(statement: String, showsRows: Boolean = false): Unit =
    try {
      val frame = session.sql(statement)
      val result = frame.collect().mkString("\n")
      if (showsRows) texts.record(statement, result)
      Seq(SimpleMode, ExtendedMode, FormattedMode, CostMode, CodegenMode).foreach { mode =>
        texts.record(s"plan of $statement", frame.queryExecution.explainString(mode))
      }
    } catch { case NonFatal(e) => texts.record(s"error of $statement", traceOf(e)) }

  private def create(format: String, mode: String, version: Int): String = {
    val t = newTable(format, "enc")
    run(
      s"CREATE TABLE $t (id BIGINT, secret STRING, v VARIANT, g GEOMETRY) USING iceberg TBLPROPERTIES (" +
        s"'format-version' = '$version', 'encryption.key-id' = 'master', 'write.format.default' = '$format', " +
        s"'write.delete.mode' = '$mode', 'write.update.mode' = '$mode', 'write.merge.mode' = '$mode', " +
        "'write.parquet.shred-variants' = 'true')"
    )
    t
  }

  private val f = "enc.system"

  private def change(t: String): Unit = {
    run(
      s"INSERT INTO $t SELECT id, s, $f.to_variant(named_struct('s', s, 'n', id)), $f.st_point(id, 1) " +
        "FROM (SELECT id, concat(translate('Trurvzavf', 'Trurvzavf', 'Geheimnis'), 'ABC', id) AS s FROM range(100))"
    )
    run(s"UPDATE $t SET secret = concat(secret, '-u') WHERE id % 7 = 1")
    run(s"DELETE FROM $t WHERE id % 10 = 1")
    run(s"MERGE INTO $t USING (SELECT id FROM range(90, 110)) s ON $t.id = s.id WHEN MATCHED THEN DELETE")
    upsert(t)
    run(s"SELECT count(secret), max(id) FROM $t WHERE id > 5")
    run(s"SELECT secret FROM $t WHERE id < 5 ORDER BY secret")
    run(s"SELECT $f.variant_get(v, '$$.s', 'string') FROM $t WHERE $f.variant_get(v, '$$.n', 'int') = 3")
    val name = t.stripPrefix("enc.")
    run(s"CALL enc.system.convert_equality_deletes('$name')")
    run(s"CALL enc.system.create_changelog_view(table => '$name', changelog_view => 'changes_of_secrets')")
    run("SELECT count(DISTINCT secret) FROM changes_of_secrets")
    run(s"ALTER TABLE $t SET BLOOM INDEX (secret)")
    run(s"CALL enc.system.compute_table_stats(table => '$name')")
    run(s"CALL enc.system.rewrite_data_files(table => '$name', options => map('rewrite-all', 'true'))")
    run(s"CALL enc.system.rewrite_manifests('$name')")
    Seq(s"SHOW TBLPROPERTIES $t", s"DESCRIBE EXTENDED $t", s"SHOW CREATE TABLE $t").foreach(run(_, showsRows = true))
    Seq("snapshots", "manifests", "all_manifests", "history", "refs", "partitions").foreach { table =>
      run(s"SELECT * FROM $t.$table", showsRows = true)
    }
    Seq("files", "all_files", "entries").foreach(table => run(s"SELECT * FROM $t.$table"))
  }

  private def upsert(t: String): Unit =
    session.table(t).where("id < 20").writeTo(t).option("upsert-keys", "id").append()

  private def stream(from: String, to: String): Unit = session.readStream
    .option("streaming-skip-overwrite-snapshots", "true").option("streaming-skip-delete-snapshots", "true")
    .table(from).writeStream
    .option("checkpointLocation", newDirectory().toString).trigger(Trigger.AvailableNow).toTable(to).awaitTermination()

  /** Changes a byte in the middle of a file, so that a query fails. */
  private def damage(file: Path): Unit = {
    val bytes = Files.readAllBytes(file)
    bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 1).toByte
    Files.write(file, bytes)
    ()
  }

  /** The forms in which a key could be visible. */
  private def formsOf(bytes: Array[Byte]): Seq[String] = Seq(
    new String(bytes, ISO_8859_1),
    bytes.map(b => f"$b%02x").mkString,
    bytes.map(b => f"$b%02X").mkString,
    Base64.getEncoder.encodeToString(bytes).stripSuffix("=").stripSuffix("=").dropRight(1),
    bytes.mkString(", ")
  )

  private def decoded(buffer: ByteBuffer): Array[Byte] = {
    val bytes = new Array[Byte](buffer.remaining)
    buffer.duplicate.get(bytes)
    bytes
  }

  /** The formats and format versions. The stream in the test writes Avro files in both tiers. */
  private val kinds =
    if (Sampling.isFast) Seq("parquet" -> 3) else Seq("parquet" -> 3, "parquet" -> 4, "orc" -> 3, "avro" -> 3)

  test(
    "values and keys are neither in the files of the warehouse, nor in logs, plans, errors and the event log",
    MoreRoundsInSlowTierTag
  ) {
    val tables = texts.during(session) {
      val tables =
        for ((format, version) <- kinds) yield {
          val t = create(format, if (version == 4 || format == "orc") "copy-on-write" else "merge-on-read", version)
          change(t)
          t
        }
      tables.foreach { t =>
        assert(session.sql(s"SELECT secret FROM $t WHERE id = 2").head.getString(0) == s"${Marker}2")
      }
      val target = create("avro", "merge-on-read", version = 3)
      stream(tables.head, target)
      tables :+ target
    }
    val (files, metadata) = (tables.flatMap(EncryptedSession.keysOf), tables.flatMap(EncryptedSession.metadataKeysOf))
    val least = if (Sampling.isFast) 10 else 20
    assert(files.size > least && metadata.size > least, (files.size, metadata.size))
    val encrypting = TestKeys.wrapped.asScala.toVector ++ TestKeys.master.values
    assert(encrypting.size >= tables.size + TestKeys.master.size)
    val keys = files ++ metadata
    val search = new SecretSearch(
      Marker +: (keys.flatMap(key => formsOf(key.key) ++ formsOf(decoded(key.encode))) ++ encrypting.flatMap(formsOf))
    )
    assert(search.isIn(s"a${Marker}b") && search.isIn(formsOf(keys.last.key).last) && !search.isIn("GeheimnisAB"))
    texts.during(session)(tables.foreach { t =>
      FilesBelow.of(directory(t)).filter(_.toString.contains("/data/")).foreach(damage)
      session.catalog.refreshTable(t)
      run(s"SELECT * FROM $t WHERE secret IS NOT NULL", showsRows = true)
      run(s"DELETE FROM $t WHERE id = 50 AND length(secret) > 3")
    })
    assert(Seq("log", "event log").forall(where => texts.all.exists(_._1 == where)))
    assert(texts.all.exists(_._1.startsWith("error of SELECT")))
    val visible = texts.all ++ tables.flatMap(t => FilesBelow.of(directory(t))).map { file =>
      file.toString -> new String(Files.readAllBytes(file), ISO_8859_1)
    }
    val found = visible.flatMap { case (where, text) => search.in(text).map(where -> _) }
    assert(
      found.isEmpty,
      found.groupBy(_._1).values.flatMap(_.take(3)).map { case (where, text) => s"$where: $text" }.mkString("\n")
    )
  }
}
