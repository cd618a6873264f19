package iceberglite.spark.procedure

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.FormatVersion

/** Tests `CALL rewrite_manifests`, and compares the results with those of Apache Iceberg on an equal table. */
class RewriteManifestsSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with a manifest for each commit. Each manifest has files of all partitions. */
  private def fragmented(version: Int = 2, commits: Int = 4): String = {
    val t = create(
      "id BIGINT, p INT, q INT",
      version,
      "merge-on-read",
      "write.distribution-mode" -> "none",
      "commit.manifest-merge.enabled" -> "false"
    )
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD q")
    for (i <- 0 until commits)
      sql(s"INSERT INTO $t SELECT id, id % 8, id % 3 FROM range(${i * 24}, ${i * 24 + 24}, 1, 1)")
    t
  }

  private def rewrite(t: String, arguments: String*): (Int, Int) = {
    val Array(catalog, rest) = t.split("\\.", 2)
    val Seq(row) =
      rows(s"CALL $catalog.system.rewrite_manifests(${(s"table => '$rest'" +: arguments).mkString(", ")})")
    sql(s"REFRESH TABLE $t")
    (row.getInt(0), row.getInt(1))
  }

  private def contents(t: String, version: Int): Seq[String] = {
    val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
    sorted(s"SELECT *$lineage FROM $t")
  }

  /** Returns the manifest entries without the paths of the files, which differ between the two tables. */
  private def entries(t: String): Seq[String] =
    sorted(s"SELECT status, sequence_number, file_sequence_number, data_file.partition, data_file.record_count " +
      s"FROM $t.entries")

  /** Returns the number of manifests that may contain files with the given value of a partition field. */
  private def manifestsOf(t: String, field: Int, value: Int): Long =
    rows(s"SELECT partition_summaries[$field].lower_bound, partition_summaries[$field].upper_bound FROM $t.manifests")
      .count(row => row.getString(0).toInt <= value && value <= row.getString(1).toInt).toLong

  for (version <- FormatVersion.all.map(_.number).filter(_ <= 3))
    test(s"counts, entries and rows are those of Apache Iceberg, version $version", Slow) {
      val (t, copy) = (fragmented(version), fragmented(version))
      val before = contents(t, version)
      val (own, other) = (rewrite(t), rewrite(inApacheIceberg(copy)))
      sql(s"REFRESH TABLE $copy")
      assert(own == ((4, 1)) && own == other)
      assert(entries(t) == entries(copy) && count(s"$t.entries", "status != 0") == 0)
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(contents(t, version) == before && contents(inApacheIceberg(t), version) == before)
      assert(rewrite(t) == ((0, 0)))
    }

  test("after a rewrite, a filter on the first field of the sort order reads fewer manifests", Slow) {
    for ((sortBy, field) <- Seq(None -> 0, Some("q") -> 1)) {
      val t = fragmented(commits = 6)
      val size = rows(s"SELECT sum(length) FROM $t.manifests").head.getLong(0)
      assert(manifestsOf(t, field, 1) == 6)
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('commit.manifest.target-size-bytes' = '${size / 12}')")
      val (replaced, added) = rewrite(t, sortBy.map(name => s"sort_by => array('$name')").toSeq: _*)
      assert(replaced == 6 && added > 3 && count(s"$t.manifests") == added)
      assert(manifestsOf(t, field, 1) * 2 <= added, s"$sortBy: $added manifests")
    }
  }

  test("only the manifests of the given spec are rewritten, as by Apache Iceberg", Slow) {
    def evolved(): String = {
      val t = fragmented()
      sql(s"ALTER TABLE $t DROP PARTITION FIELD q")
      for (i <- 0 until 3) sql(s"INSERT INTO $t VALUES (${1000 + i}, $i, 0)")
      t
    }
    val (t, copy) = (evolved(), evolved())
    val specs = rows(s"SELECT partition_spec_id, count(*) FROM $t.manifests GROUP BY 1 ORDER BY 2 DESC")
    assert(specs.map(_.getLong(1)) == Seq(4L, 3L))
    val old = specs.head.getInt(0)
    assert(rewrite(t, s"spec_id => $old") == rewrite(inApacheIceberg(copy), s"spec_id => $old"))
    assert(count(s"$t.manifests", s"partition_spec_id = $old") == 1 && count(s"$t.manifests") == 4)
    assert(rewrite(t) == ((3, 1)))
  }

  test("a single manifest above the target size is divided, as by Apache Iceberg", Slow) {
    def oversized(): String = {
      val t = fragmented()
      assert(rewrite(t) == ((4, 1)))
      val size = rows(s"SELECT length FROM $t.manifests").head.getLong(0)
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('commit.manifest.target-size-bytes' = '${size / 2}')")
      t
    }
    val (t, copy) = (oversized(), oversized())
    val before = contents(t, 2)
    val ((replaced, added), (ofPeer, addedByPeer)) = (rewrite(t), rewrite(inApacheIceberg(copy)))
    assert(replaced == 1 && ofPeer == 1 && added > 1 && addedByPeer > 1)
    assert(contents(t, 2) == before)
  }

  test("a dry run returns the counts of a rewrite and changes nothing") {
    val t = fragmented()
    assertUnchanged(t)(assert(rewrite(t, "dry_run => true") == ((4, 1))))
    assert(rewrite(t) == ((4, 1)) && rewrite(t, "dry_run => true") == ((0, 0)))
    val error = intercept[AnalysisException](rewrite(t, "spec_id => 77", "dry_run => true"))
    assert(messages(error).contains("77"))
  }
}
