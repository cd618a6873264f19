package iceberglite.spark.encryption

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.Files

import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{FilesBelow, Sampling}
import iceberglite.conformance.MetadataRules

/** Tests encrypted tables with shredded variants and geometries, by comparison with tables that are not encrypted. */
class EncryptedTypesSuite extends AnyFunSuite with EncryptedFixture {

  /** The beginning of a value of all variants. The metadata files contain no statements. */
  private val Marker = "Geheimnis"

  private def create(version: Int, mode: String, more: String = ""): String = {
    val t = newTable("types", "enc")
    sql(
      s"CREATE TABLE $t (id BIGINT, v VARIANT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = " +
        s"'$version', 'write.parquet.shred-variants' = 'true', 'write.delete.mode' = '$mode', " +
        s"'write.update.mode' = '$mode', 'write.merge.mode' = '$mode'$more)"
    )
    t
  }

  private def encrypted(version: Int, mode: String): String = create(version, mode, ", 'encryption.key-id' = 'master'")

  private def part(path: String, t: String) = s"enc.system.variant_get(v, '$path', '$t')"

  private def insert(t: String, from: Int, to: Int): Unit = sql(
    s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, enc.system.to_variant(named_struct('n', id, 's', " +
      s"concat('$Marker-', id), 'x', named_struct('d', date_add(DATE'2024-01-01', CAST(id AS INT))))), " +
      s"enc.system.st_point(id, id) FROM range($from, $to)"
  )

  private def change(t: String): Unit = {
    val x = "named_struct('d', DATE'2020-01-01')"
    val variant = s"enc.system.to_variant(named_struct('n', -1, 's', '$Marker', 'x', $x))"
    sql(s"UPDATE $t SET v = $variant, g = enc.system.st_point(500, 500) WHERE ${part("$.n", "int")} = 12")
    sql(s"DELETE FROM $t WHERE enc.system.st_intersects(g, enc.system.st_box(2.5, 2.5, 4.5, 4.5))")
    sql(
      s"MERGE INTO $t USING (SELECT id FROM range(18, 22)) s ON $t.id = s.id WHEN MATCHED THEN DELETE " +
        "WHEN NOT MATCHED THEN INSERT (id, v, g) VALUES (s.id, '{\"n\":77,\"extra\":[1]}', NULL)"
    )
  }

  private val columns = s"id, ${part("$.n", "int")} AS n, ${part("$.s", "string")} AS s, " +
    s"${part("$.x.d", "date")} AS d, ${part("$.extra", "string")} AS e, enc.system.st_astext(g) AS g"

  private def contents(t: String): Seq[Row] = rows(s"SELECT $columns FROM $t ORDER BY id")

  private def changes(t: String): Seq[String] = {
    val view = s"changes_${t.split('.').last}"
    sql(s"CALL enc.system.create_changelog_view(table => '${inCatalog(t)}', changelog_view => '$view')")
    sorted(s"SELECT $columns, _change_type, _change_ordinal FROM $view")
  }

  private def planOf(query: String): String = rows(s"EXPLAIN $query").head.getString(0)

  private def stream(from: String, to: String): Unit = session.readStream.table(from).writeStream
    .option("checkpointLocation", newDirectory().toString).trigger(Trigger.AvailableNow).toTable(to).awaitTermination()

  for ((version, mode) <- Seq(3 -> "merge-on-read", 4 -> "copy-on-write"))
    test(
      s"shredded variants and geometries are encrypted in all operations: version $version, $mode",
      MetadataRules.encryption +: Sampling.slowUnless(version == 3): _*
    ) {
      val (t, plain) = (encrypted(version, mode), create(version, mode))
      Seq(t, plain).foreach { table =>
        insert(table, 0, 10)
        insert(table, 10, 20)
      }
      val target = encrypted(version, mode)
      stream(t, target)
      assert(contents(target) == contents(t) && contents(t) == contents(plain))
      val query = s"SELECT ${part("$.n", "int")} FROM $t WHERE ${part("$.n", "int")} = 12"
      val inBox = s"SELECT id FROM $t WHERE enc.system.st_intersects(g, enc.system.st_box(2.5, 2.5, 4.5, 4.5))"
      assert(planOf(query).contains("parts=v: $['n']"))
      // Version 4 has no bounds of these types.
      if (version == 3) assert(planOf(query).contains("files=1 of 2") && planOf(inBox).contains("files=1 of 2"))
      assert(rows(query) == Seq(Row(12)) && rows(inBox) == Seq(Row(3L), Row(4L)))
      Seq(t, plain).foreach(change)
      assert(contents(t) == contents(plain) && contents(t).size == 18)
      assert(changes(t) == changes(plain) && changes(t).nonEmpty)
      for (table <- Seq(t, plain)) {
        val name = s"table => '${inCatalog(table)}'"
        sql(s"CALL enc.system.rewrite_data_files($name, options => map('rewrite-all', 'true'))")
        sql(s"CALL enc.system.expire_snapshots($name, older_than => now(), retain_last => 1)")
      }
      assert(contents(t) == contents(plain) && rows(s"SELECT count(*) FROM $t.snapshots") == Seq(Row(1L)))
      assert(planOf(query).contains("parts=v: $['n']"))
      Seq(t, target).foreach { table =>
        assertEncrypted(table)
        FilesBelow.withoutHints(directory(table)).foreach { file =>
          assert(!new String(Files.readAllBytes(file), ISO_8859_1).contains(Marker), file)
        }
      }
    }
}
