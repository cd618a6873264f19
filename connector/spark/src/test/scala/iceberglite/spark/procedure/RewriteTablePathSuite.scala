package iceberglite.spark.procedure

import java.nio.file.{Files, Path, Paths, StandardCopyOption}

import scala.collection.JavaConverters._

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.maintenance.relocate.{DeleteFileCopier, DeleteFileToCopy, LocalDeleteFileCopies, PathPrefixes}
import iceberglite.spark.SharedSession
import iceberglite.spark.maintenance.SessionDeleteFileCopies
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.file.Content
import iceberglite.tree.TreeReader

/** Tests `CALL rewrite_table_path`, and compares the results with Apache Iceberg. */
class RewriteTablePathSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Returns a new local location as `file:/path`, the only form that both connectors write to metadata unchanged. */
  private def newLocation(): String = s"file:${newDirectory().resolve("t")}"

  /** Creates a partitioned table from which both connectors have deleted rows. */
  private def changed(version: Int): String = {
    val t = newTable(catalog = "litejdbc")
    val mode = if (version == 1) "copy-on-write" else "merge-on-read"
    sql(
      s"CREATE TABLE $t (id BIGINT, p BIGINT) USING iceberg PARTITIONED BY (p) LOCATION '${newLocation()}' " +
        s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = '$mode', " +
        "'commit.manifest.min-count-to-merge' = '3')"
    )
    (0 until 4).foreach(i => sql(s"INSERT INTO $t SELECT id, id % 3 FROM range(${100 * i}, ${100 * i + 100}, 1, 1)"))
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 7 = 0")
    sql(s"REFRESH TABLE $t")
    sql(s"DELETE FROM $t WHERE id % 11 = 5")
    sql(s"ALTER TABLE $t CREATE TAG before")
    sql(s"CALL litejdbc.system.compute_partition_stats('${rest(t)}')")
    sql(s"INSERT INTO $t VALUES (1000, 0), (1001, 5)")
    t
  }

  private def rest(t: String): String = t.split("\\.", 2).last

  private def prefix(t: String): String = live(t).location

  private def call(table: String, source: String, target: String, arguments: String*): Row = {
    val Array(catalog, name) = table.split("\\.", 2)
    val all = Seq(s"table => '$name'", s"source_prefix => '$source'", s"target_prefix => '$target'") ++ arguments
    val Seq(row) = rows(s"CALL $catalog.system.rewrite_table_path(${all.mkString(", ")})")
    row
  }

  private def local(path: String): Path = Paths.get(new org.apache.hadoop.fs.Path(path).toUri.getPath)

  private def listed(row: Row): Set[(String, String)] =
    Files.readAllLines(local(row.getString(1))).asScala.map { line =>
      val Array(from, to) = line.split(",")
      from -> to
    }.toSet

  private def copyFiles(row: Row): Unit = listed(row).foreach { case (from, to) =>
    Files.createDirectories(local(to).getParent)
    Files.copy(local(from), local(to), StandardCopyOption.REPLACE_EXISTING)
  }

  /** Compares the results of both connectors and the files in their file lists. @return the result of iceberg-lite */
  private def compared(t: String, target: String, arguments: String*): Row = {
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    val Seq(ours, theirs) = Seq(t, inApacheIceberg(t)).map { table =>
      val staging = newLocation()
      val row = call(table, prefix(t), target, arguments :+ s"staging_location => '$staging'": _*)
      assert(row.getString(1) == s"$staging/file-list")
      (row, listed(row).map { case (from, to) => from.replace(staging, "staging") -> to })
    }
    assert(Seq(0, 2, 3).map(ours._1.get) == Seq(0, 2, 3).map(theirs._1.get))
    assert(ours._2 == theirs._2)
    ours._1
  }

  private def contents(t: String, version: Int): Seq[Seq[String]] = {
    val lineage = if (version < 3) "" else ", _row_id, _last_updated_sequence_number"
    Seq(s"SELECT *$lineage FROM $t", s"SELECT * FROM $t VERSION AS OF 'before'").map(sorted)
  }

  for (version <- Seq(1, 2, 3))
    test(
      s"the counts and the file list equal Apache Iceberg's, and both engines read the copy, version $version",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 2): _*
    ) {
      val t = changed(version)
      val target = newLocation()
      val before = contents(t, version)
      val metadata = live(t).metadataLocation
      val row = compared(t, target)
      assert(row.getInt(2) >= 4 && (version == 1 || row.getInt(3) >= 3))
      assert(live(t).refresh().metadataLocation == metadata)
      copyFiles(row)
      sql(s"DROP TABLE $t PURGE")
      val copy = newTable(catalog = "litejdbc")
      sql(s"CALL litejdbc.system.register_table('${rest(copy)}', '$target/metadata/${row.getString(0)}')")
      assert(contents(copy, version) == before && contents(inApacheIceberg(copy), version) == before)
      assert(rows(s"SELECT file_path FROM $copy.all_files").forall(_.getString(0).startsWith(target)))
      sql(s"INSERT INTO $copy VALUES (2000, 1)")
      if (version > 1) sql(s"DELETE FROM ${inApacheIceberg(copy)} WHERE id < 50")
      sql(s"REFRESH TABLE $copy")
      assert(count(copy, "id = 2000") == 1 && sorted(s"SELECT * FROM $copy") == sorted(
        s"SELECT * FROM ${inApacheIceberg(copy)}"
      ))
    }

  test("changes after a start version are copied, with the counts and the file list of Apache Iceberg", Slow) {
    for (version <- Seq(1, 2, 3)) {
      val t = changed(version)
      val target = newLocation()
      val first = compared(t, target)
      copyFiles(first)
      sql(s"INSERT INTO $t SELECT id, id % 3 FROM range(3000, 3050)")
      sql(s"DELETE FROM $t WHERE id % 13 = 2")
      val second = compared(t, target, s"start_version => '${first.getString(0)}'")
      assert(second.getInt(2) < first.getInt(2) || version == 1)
      copyFiles(second)
      val copy = newTable(catalog = "litejdbc")
      sql(s"CALL litejdbc.system.register_table('${rest(copy)}', '$target/metadata/${second.getString(0)}')")
      assert(contents(copy, version) == contents(t, version))
      assert(contents(inApacheIceberg(copy), version) == contents(t, version))
    }
  }

  test("a Spark job writes the same copies of delete files as the driver", Slow) {
    for (version <- Seq(2, 3)) {
      val table = live(changed(version))
      val prefixes = PathPrefixes.of(table.location, "mem://elsewhere")
      val files = new TreeReader(table.io, table.metadata).live.map(_.file).filter(_.content == Content.PositionDeletes)
      assert(files.nonEmpty)
      val Seq(local, cluster) = Seq(LocalDeleteFileCopies, new SessionDeleteFileCopies(spark, maxLocalFiles = 0)).map {
        copies =>
          val staging = newDirectory("staging").toUri.toString
          val distinct = files.groupBy(_.path).values.map(_.head).toVector.sortBy(_.path)
          val toCopy = distinct.zipWithIndex.map { case (f, i) => DeleteFileToCopy(f, s"${staging}copy-$i") }
          val copied = copies.write(toCopy, DeleteFileCopier(table.io, prefixes, table.properties))
          assert(copied.zip(toCopy).forall { case (c, f) =>
            table.io.read(f.writePath).length == c.copy.fileSizeInBytes
          })
          copied.map(c => (c.original, c.copy.fileSizeInBytes, c.copy.metrics.lowerBounds, c.copy.metrics.upperBounds))
      }
      assert(local == cluster)
    }
  }

  test("wrong arguments are rejected, and no file is written", Slow) {
    val t = changed(2)
    val location = prefix(t)
    val files = () => Files.walk(local(location)).iterator.asScala.map(_.toString).toSet
    val before = files()
    val name = live(t).metadataLocation.split('/').last
    for (
      (source, target, arguments, message) <- Seq(
        (location, location, "", "It must differ from source_prefix"),
        (location, s"$location/", "", "It must differ from source_prefix"),
        ("", "/target", "", "argument source_prefix"),
        (location, "", "", "argument target_prefix"),
        ("s3://nowhere", "/target", "", "source prefix s3://nowhere/"),
        (s"$location/data", "/target", "", "table location"),
        (location, "/target", "start_version => 'v99.metadata.json'", "argument start_version"),
        (location, "/target", "end_version => 'v99.metadata.json'", "argument end_version"),
        (location, "/target", s"start_version => '$name'", "older version"),
        (location, "/target", s"staging_location => '$location'", "The directory is not empty"),
        (location, "/target", "create_file_list => 'perhaps'", "create_file_list")
      )
    ) {
      val error = intercept[AnalysisException](call(t, source, target, Seq(arguments).filter(_.nonEmpty): _*))
      assert(messages(error).contains(message), messages(error))
    }
    assert(files() == before)
  }

  test("by default, files are staged in the table's metadata directory, and the list can be omitted") {
    val t = changed(2)
    val row = call(t, prefix(t), "/target", "create_file_list => false")
    assert(row.getString(1) == "N/A")
    val staged = call(t, prefix(t), "/target").getString(1)
    assert(staged.startsWith(s"${prefix(t)}/metadata/copy-table-staging-"))
    assert(count(t) > 0)
  }
}
